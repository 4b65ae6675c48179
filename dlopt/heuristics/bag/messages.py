"""The messages that the sites of GDS send to each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """Numbers of messages between sites while tasks are dispatched, each over one link.

    A site that cannot schedule a task sends its ticket, "a very small file", to a neighbour, which
    answers whether it can; where none can, the neighbours ask their own neighbours, each with a
    ticket. Once a site can, the task itself is sent there, over the links that its ticket came by,
    which the ticket records. The paper names tickets and tasks; that each ticket is answered is
    ours, for the next neighbour is asked only if the one before cannot. The periodic messages by
    which neighbours exchange their capacity and bandwidth are not counted.

    Parameters
    ----------
    searches : int
        Tasks that did not fit at home, for which others were asked or could have been.
    tickets : int
        One for each site that is asked for a task.
    answers : int
        One for each ticket.
    tasks : int
        Tasks sent to another site.
    hops : int
        Links that these tasks crossed, together.

    Notes
    -----
    Source: Liu, Baskiyar and Li 2007, section 5.5 and figure 6.
    """

    searches: int = 0
    tickets: int = 0
    answers: int = 0
    tasks: int = 0
    hops: int = 0

    @property
    def small(self) -> int:
        """Tickets and answers.

        Examples
        --------
        >>> MessageCounts(searches=1, tickets=3, answers=3, tasks=1, hops=2).small
        6
        """
        return self.tickets + self.answers
