"""What is known of a server before the first request: address, credentials, and where to look by default."""

from dataclasses import dataclass

from informers.client.addresses import Scope
from informers.client.credentials import Credentials
from informers.client.records import Noticed
from informers.client.retry import Retry
from informers.client.server import Server

_POLICY = Retry()


@dataclass(frozen=True)
class ServerConfig:
    """One server as a kubeconfig's context, or the pod we run in, describes it."""

    address: str
    credentials: Credentials
    namespace: str = ""
    """The namespace to use where none is named; "" where the configuration has none."""
    proxy: str | None = None
    tls_server_name: str | None = None
    context: str = ""
    """The context's name; "" in a pod."""
    source: str = ""
    """Where it was found, for messages."""

    def server(
        self,
        name: str = "",
        *,
        scope: Scope | None = None,
        retry: Retry = _POLICY,
        noticed: Noticed | None = None,
    ) -> Server:
        """Return the server, by default under the context's name and with the scope that its address tells."""
        return Server.from_address(
            self.address,
            name=name or self.context,
            scope=scope,
            credentials=self.credentials,
            proxy=self.proxy,
            tls_server_name=self.tls_server_name,
            retry=retry,
            noticed=noticed,
        )
