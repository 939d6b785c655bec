"""What each piece of news says of an object: the rules of evidence, as a table.

| news of an object                                   | the local shard's store | the cache                        |
|-----------------------------------------------------|-------------------------|----------------------------------|
| it is there                                         | present                 | present                          |
| it is there, as it was earlier, in another history  | present                 | present, as it was seen last     |
| another Shard is there, where it is held or in      | present, and held as it | present, and held as it was      |
| another history, with another URL                   | was beside that         | beside that                      |
| it is there, and cannot be read                     | present, as it was      | present, as it was               |
| a DELETED event                                     | gone                    | leaving                          |
| a list lacks it, of a history in which it was there | gone                    | leaving; what is held stays held |
| a list lacks it, of any other history               | held                    | held                             |

The Shard of the process itself never leaves its own store: registration makes it again. What is leaving is gone once
`controllers.settling` finds that it counts.
"""

from datetime import datetime
from typing import TypeAlias

import msgspec

from controllers.entries import SHARD, Entry, Gone, Malformed, Moment, Origin, Place, Seen, SeenExport, State
from controllers.publishing import SeenShard
from controllers.urls import is_usable
from informers.api.histories import Lineage
from informers.cache.histories import Continuity, compare
from informers.cache.notices import Evidence

DELETED = "was deleted"
ABSENT = "is not listed any more"
LOST = "is not in the local store, which is new, or older than what was seen of it"
REPLACED = "was lost, and another one has taken its place"


class There(msgspec.Struct, frozen=True):
    """An object is there, in this form."""

    place: Place
    uid: str
    what: Seen
    moment: Moment
    origin: Origin = Origin()
    lineage: Lineage = Lineage()
    """What the server says of the history that it is there in."""
    is_unbroken: bool = False
    """Whether that is the history it was there in before, for a server that says nothing of it."""


class Missing(msgspec.Struct, frozen=True):
    """An object is not there; no list of another history is evidence of its deletion."""

    place: Place
    evidence: Evidence
    lineage: Lineage = Lineage()
    """What the server says of the history that the object is missing in."""
    revision: str = ""
    number: int = 0
    """Which history of a server that says nothing of it, as its informer counts them; 0 where nobody counted."""


News: TypeAlias = There | Malformed | Missing


def judged(before: Entry | None, news: News, now: datetime, *, home: str) -> Entry | None:
    """Return what is remembered after the news; `home` is the local shard's name."""
    match news:
        case There(place, uid, what, moment, origin):
            if before is not None and _is_known(news, before):
                return before
            if before is not None and _is_earlier(news, before):
                formed = before.formed or before.moment
                return msgspec.structs.replace(present(before), moment=moment, formed=formed)
            return Entry(place, uid, what, moment, origin=origin)
        case Malformed():
            return before and present(before)
        case Missing(place):
            return before if before is None or is_own_shard(place, home) else _missed(before, news, now)


def _is_known(news: There, before: Entry) -> bool:
    """Say whether there is nothing new: the same form, in a history in which it was known to be there."""
    if (before.uid, before.what, before.state) != (news.uid, news.what, State.PRESENT):
        return False
    if news.origin.store not in ("", before.origin.store):
        return False
    return continuity(before.moment, news.lineage, news.moment.revision) is not Continuity.NEW


def _is_earlier(news: There, before: Entry) -> bool:
    """Say whether a cache that lost what it had, and has an older copy of it, shows a form from before the known one.

    In one history the newest form is what counts, also if its home went back to an older one.
    """
    if not news.origin.is_before(before.origin):
        return False
    known = before.formed or before.moment
    return continuity(known, news.lineage, news.moment.revision) is not Continuity.SAME


def displaced(before: Entry, news: There, now: datetime) -> Entry | None:
    """Return what stays of a Shard whose place another one has taken, where the other is no newer form of it.

    That another object is where it was lost says nothing of what was lost. One with the same URL takes nothing away.
    """
    if not isinstance(before.what, SeenShard) or not isinstance(news.what, SeenShard):
        return None
    if before.what.url == news.what.url or not before.is_another(news.uid, news.origin):
        return None
    if before.state is not State.HELD and _is_of_one_history(before, news):
        return None
    place = msgspec.structs.replace(before.place, former=before.origin.uid or before.uid)
    since = before.held_since or now
    return msgspec.structs.replace(before, place=place, state=State.HELD, since=since, why=REPLACED)


def returned(former: Entry, news: There) -> bool:
    """Say whether what is there now says all there is to say of what was there before, and is held beside it."""
    if _url(former.what) == _url(news.what):
        return True
    if not former.is_another(news.uid, news.origin):
        return not news.origin.is_before(former.origin)
    return continuity(former.moment, news.lineage, news.moment.revision) is Continuity.SAME


def _is_of_one_history(before: Entry, news: There) -> bool:
    match continuity(before.moment, news.lineage, news.moment.revision):
        case Continuity.UNPROVEN:
            return news.is_unbroken
        case found:
            return found is Continuity.SAME


def _url(what: Seen) -> str:
    return what.url if isinstance(what, SeenShard) else ""


def present(entry: Entry) -> Entry:
    """Return the entry as one of what is there."""
    if entry.state is State.PRESENT:
        return entry
    return msgspec.structs.replace(entry, state=State.PRESENT, since=None, why="")


def held(entry: Entry, now: datetime, why: str) -> Entry:
    """Return the entry as held, from now on unless it is already."""
    if entry.state is State.HELD:
        return entry
    return msgspec.structs.replace(entry, state=State.HELD, since=now, why=why)


def _missed(before: Entry, news: Missing, now: datetime) -> Entry | None:
    is_local = before.source == "local"
    evidence = absence(before, news)
    if evidence is Evidence.ABSENT_IN_NEW_HISTORY:
        return held(before, now, LOST if is_local else ABSENT)
    if is_local:
        return None
    if before.state is State.LEAVING or (before.state is State.HELD and evidence is Evidence.ABSENT_FROM_LIST):
        return before
    why = DELETED if evidence is Evidence.DELETED_EVENT else ABSENT
    return msgspec.structs.replace(before, state=State.LEAVING, since=now, why=why)


def absence(entry: Entry, news: Missing) -> Evidence:
    """Say what it means for this entry that it is missing.

    Where a server says which store it shows, it means a deletion if the moment at which the object was seen is one of
    that store's history: whatever else the store lost or found, it held the object, and let it go. So much is known
    after a restart too. Of other servers only the informer can tell, which has followed them.
    """
    if news.evidence is Evidence.DELETED_EVENT:
        return news.evidence
    match continuity(entry.moment, news.lineage, news.revision):
        case Continuity.SAME:
            return Evidence.ABSENT_FROM_LIST
        case Continuity.NEW:
            return Evidence.ABSENT_IN_NEW_HISTORY
        case Continuity.UNPROVEN:
            return news.evidence


def continuity(moment: Moment, lineage: Lineage, revision: str) -> Continuity:
    """Say whether a server at the revision has the moment in its history."""
    return compare(Lineage(moment.store, ((moment.term, 0),)), moment.revision, lineage, revision)


def is_own_shard(place: Place, home: str) -> bool:
    """Say whether it is the process' own Shard, in its own store."""
    return place.kind == SHARD and place.source == "local" and place.key.name == home


def parted(before: Entry, after: Entry | None, now: datetime) -> Gone | None:
    """Return what evidently is no more by the change from one form to the next, or to none."""
    old, new = before.what, after.what if after else None
    if isinstance(old, SeenShard):
        url = new.url if isinstance(new, SeenShard) else None
        is_moved = url is None or (url != old.url and is_usable(url))
        return Gone("shards", before.uid, now, urls=(old.url,)) if is_moved else None
    kept = new.references if isinstance(new, SeenExport) else ()
    lost = tuple(pair for pair in old.references if pair not in kept)
    return Gone("apiexports", before.uid, now, references=lost) if lost else None
