"""What waits to be judged: news, feeds that have told their first state, and orders."""

from asyncio import Event, Future, get_running_loop
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TypeAlias

import msgspec

from controllers.entries import Place
from controllers.evidence import News
from controllers.feeding import Feed
from controllers.judging import Draft, StillThere

Order: TypeAlias = Callable[[Draft], int]
"""Changes a draft, and returns how many entries that concerned; raises `StillThere` having changed nothing."""

_MOST = 500
"""News that are judged in one step: some milliseconds of work."""


class Group(msgspec.Struct, frozen=True):
    """What is judged together."""

    news: tuple[News, ...]
    told: tuple[Feed, ...] = ()
    """Feeds whose first state has been told, and judged with this."""
    orders: "tuple[tuple[Order, Future[int] | None], ...]" = ()


class Inbox:
    """Keeps news in the order in which they came, one of each object: the last.

    Feeds and orders come with the last of the news that were there before them.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._news: dict[Place, News] = {}
        self._told: list[Feed] = []
        self._orders: list[tuple[Order, Future[int] | None]] = []
        self._wake = Event()

    def __bool__(self) -> bool:
        return self._wake.is_set()

    def __contains__(self, place: Place) -> bool:
        return place in self._news

    def put(self, news: News) -> None:
        """Take one piece of news in."""
        self._news[news.place] = news
        self._wake.set()

    def tell(self, feed: Feed) -> None:
        """Take in that a feed has told its first state."""
        self._told.append(feed)
        self._wake.set()

    def order(self, order: Order) -> None:
        """Take in an order that nobody waits for."""
        self._orders.append((order, None))
        self._wake.set()

    async def ask(self, order: Order) -> int:
        """Take in an order, and return what came of it; raises `StillThere`."""
        answer: Future[int] = get_running_loop().create_future()
        self._orders.append((order, answer))
        self._wake.set()
        return await answer

    async def take(self) -> Group:
        """Wait until there is something, and take as much of it as is judged in one step."""
        await self._wake.wait()
        news = tuple(islice(self._news.values(), _MOST))
        for one in news:
            del self._news[one.place]
        if self._news:
            return Group(news)
        group = Group(news, tuple(self._told), tuple(self._orders))
        self._told, self._orders = [], []
        self._wake.clear()
        return group


def carried_out(order: Order, draft: Draft, answer: "Future[int] | None") -> Callable[[], None]:
    """Carry an order out, and return what tells its outcome to whoever waits for it."""
    try:
        return partial(_tell, answer, order(draft))
    except StillThere as error:
        return partial(_tell, answer, error)


def _tell(answer: "Future[int] | None", outcome: int | StillThere) -> None:
    if answer is None or answer.done():
        return
    if isinstance(outcome, StillThere):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
