"""Co-reservation over domains: resources of several services in one window, in all or in none.

A *domain* is a book of a service that somebody else runs, over nodes or over CPU shares, reached
as a `dlopt.client.RemoteBook`. A `JointRequest` asks several domains for the same window, each part
with alternatives. `Broker` takes five steps:

1. **asks**: it looks for the earliest start that every part can have at one of its domains. A
   domain that rejects a start says the next one that it would accept (its offer of a later
   ``start``); the latest of these is tried next, until all domains accept or no start is left
   (`joint_placement`);
2. **holds**: it submits the parts with a time to live, in the order of the domains' names, so that
   of two brokers that want the same the first at the first domain wins;
3. **decides**: if all domains have agreed, and at least half of the time to live is left, it writes
   to its log that it confirms. This record is the decision;
4. **confirms** everywhere, or
5. **releases**: if a domain rejects its part, it takes the others back, and looks again.

Every step is in the log (`BrokerLog`) before its first message is sent. Every message can be sent
again: holds have an identity of their own in each attempt, holds and confirmations their own
idempotency keys. A broker that was stopped at any moment goes on with what its log says
(`Broker.recover`):

- *holding*: nothing was confirmed, so that it releases (presumed abort). What it does not reach
  expires by its time to live;
- *confirming*: it goes on. A confirmation that was done already is answered again. Once a domain
  says that its part has expired, or a domain was not reached until the time to live is over, it
  writes *cancelling* and cancels in all domains, also what was confirmed;
- *cancelling*: it goes on until every domain has answered.

What is guaranteed
------------------
- Nothing is oversold, whatever fails: every domain decides by itself, on its own book.
- What was not decided holds resources for no longer than the time to live.
- As long as the broker runs and reaches the domains, all parts are confirmed, or all are taken
  back: what is confirmed in part is completed or cancelled before the time to live is over. After a
  longer stop that is done as soon as the broker runs again.
- The same request under the same identity gets the same answer.

It needs that the clocks of a domain and of the broker run at about the same rate, and are not set
back (they need not show the same time); that the log is not lost; and that domains remember
idempotency keys at least for the time to live. Where one does not, the parts are cancelled.

What cannot be guaranteed
-------------------------
If the broker stops between two confirmations, and does not run again before the time to live is
over, then one domain has confirmed and another's hold has expired; and if a domain cannot be
reached, what it has confirmed stays until it is. Both end once broker and domain run again. No
protocol excludes this: a domain either waits for the broker, however long (two-phase commit), or
decides alone after some time, and then may decide otherwise than the others (time to live).

References
----------
- Gray 1978, Notes on data base operating systems: two-phase commit, and why it waits.
- Mohan, Lindsay and Obermarck 1986, Transaction management in the R* distributed database
  management system: presumed abort.
"""

from __future__ import annotations

from dlopt.serve.broker.broker_log import BrokerLog
from dlopt.serve.broker.coordinator import Broker
from dlopt.serve.broker.joint_requests import (
    Alternative,
    JointDecision,
    JointPart,
    JointRequest,
    Promise,
    UnplacedRequest,
    UnplacedReservation,
)

__all__ = [
    "Alternative",
    "Broker",
    "BrokerLog",
    "JointDecision",
    "JointPart",
    "JointRequest",
    "Promise",
    "UnplacedRequest",
    "UnplacedReservation",
]
