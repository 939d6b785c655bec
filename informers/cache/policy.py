"""The settings of a reflector."""

from dataclasses import dataclass

from informers.cache.slices import SLICE


@dataclass(frozen=True)
class Policy:
    """How a reflector asks and waits; the defaults are client-go's where it has them. All times are in seconds."""

    stream: bool = True
    """Ask for the initial state as a stream of events (WatchList) first, and list where that fails."""
    page_size: int | None = None
    """Objects a page. None: 500 where the server reads from its storage anyway, and no pages where its watch cache can
    answer, which pages would bypass."""
    watch_timeout: tuple[int, int] = (300, 600)
    """After how long the server is to end a watch: each time a random number in between, so that they spread out."""
    margin: float = 15.0
    """How long a watch may outlive that before it counts as dead."""
    opening: float = 30.0
    """How long a watch may take to be answered."""
    bookmark_period: float = 60.0
    """The shortest time between bookmarks to count on; real servers send one a minute."""
    missed_bookmarks: float = 2.5
    """How many bookmark periods of silence mean a dead connection; applies once a server was seen to send them."""
    initial_silence: float = 10.0
    """How long a streamed initial state may pause before its end bookmark, until it is given up for a list."""
    initial_limit: float = 300.0
    """How long a streamed initial state may take as a whole."""
    short_watch: float = 1.0
    """A watch that ends sooner without having brought anything is a fault, not an end."""
    longest_retry_after: float = 120.0
    """The most that a server's Retry-After is heeded; a day would be an outage of its own."""
    slice: float = SLICE
    """How long preparing and handing out a replace may hold the loop at a time."""
