"""What the random callers of the books of tasks have in common: they watch what a caller sees."""

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from dlopt.errors import InvalidInstanceError, NotApplicableError


def visible(head):
    """Return all that a caller of a book of tasks can see."""
    return head.plan(), head.now, head.nodes, head.waiting, head.state()


class BookMachine(RuleBasedStateMachine):
    """Calls of the book `head`, whose numbers are made by `number`."""

    def visible(self):
        return visible(self.head)

    def unchanged(self, call, *arguments, **named):
        """Call what must not change anything, and return what it returned."""
        before = self.visible()
        result = call(*arguments, **named)
        assert self.visible() == before
        return result

    def refused(self, call, *arguments, **named):
        """Require that a call fails and changes nothing."""
        before = self.visible()
        with pytest.raises((InvalidInstanceError, NotApplicableError)):
            call(*arguments, **named)
        assert self.visible() == before

    def at(self, gap):
        return self.head.now + self.number(gap)
