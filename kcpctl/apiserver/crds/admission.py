"""The rule that nothing new of a kind is made while its definition goes away."""

from kcpctl.apiserver.admission import Admission, AdmissionRequest
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.failures import forbidden


def refuse_while_terminating(catalog: CrdCatalog) -> Admission:
    """Return the rule for the definitions of this catalogue."""

    async def rule(request: AdmissionRequest) -> None:
        if request.verb != "create" or not request.served.is_custom:
            return
        if catalog.is_terminating(request.context.cluster, request.served):
            name = request.obj["metadata"].get("name", "")
            raise forbidden(request.served, name, "create not allowed while custom resource definition is terminating")

    return rule
