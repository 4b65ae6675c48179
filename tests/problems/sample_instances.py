"""Valid instances, solutions and traces in which every record of every problem occurs."""

from fractions import Fraction

from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import BestKnown, Header, Record

F = Fraction

_HEADER = {
    "name": "sample",
    "best_known": (BestKnown("completion", "any", value=(5, F(1, 2)), bound=4),),
}
_CLUSTER = Cluster(3, (1, 2, 0), 2, 1, F(1, 2))
_STREAM = {
    "cluster": _CLUSTER,
    "tasks": (
        admission.Task("a", 1, 6, 30, remaining=2),
        admission.Task("b", F(5, 2), 2, 8),
        admission.Task("c", 4, 3, 12),
    ),
    "now": 3,
    "ready_times": (0, 5, 4),
    "channel_ready": 2,
    "committed": (admission.Commitment("a", 0, 1, 4, 10),),
}
_DECISION = admission.Decision("a", False, 3, missed="b", by=1, of="time")
_CHUNK_TIMES = (2, 3, 5, 5, 9)

INSTANCES: tuple[Header, ...] = (
    iit.Instance(_CLUSTER, (0, 1, 4), 3, absolute_deadline=9, **_HEADER),
    iit.Instance(Cluster(2, 1, (2, F(1, 2))), (0, 1), 3),
    admission.Instance(**_STREAM, **_HEADER),
    multistage.Instance(
        **_STREAM,
        reservations=(
            multistage.Reservation("r", 1, 4, 8, io_end=5, nodes=(1, 2)),
            multistage.Reservation("s", 4, 4, 8, io_ratio=F(1, 4), nodes=2),
        ),
        **_HEADER,
    ),
    coreservation.Instance(
        (coreservation.Machine("m", 9), coreservation.Machine("n", ((0, 5), (F(7, 2), 7)))),
        (
            coreservation.Request("r", 1, 2, 6, 1, (coreservation.Part(5),)),
            coreservation.Request(
                "s", 4, 4, F(9, 2), 0.5,
                (coreservation.Part(5, F(5, 4), ((0, 0), (0.5, 0.25), (1, 1)), machine=1),),
            ),
        ),
        coreservation.Batch(5),
        (coreservation.Holding(0, 1, 2, 1),),
        **_HEADER,
    ),
    dag.Instance(
        (dag.Machine("m", lan=0), dag.Machine("n", 2, lan=1, delay=1)),
        (
            dag.Graph("h", (dag.Task("a", work=1),)),
            dag.Graph(
                "g", (dag.Task("a", costs=(1, 2)), dag.Task("b", costs=(None, 2))),
                (dag.Edge(0, 1, 4),), 2, 9, lan=1, input=3, output=1, one_lan=True,
            ),
        ),
        dag.Network(
            lans=(dag.Lan("x"), dag.Lan("y", 3)),
            wan_links=(dag.Link(0, 1, 1),),
            links=(dag.Link(1, 0, 1, 1),),
        ),
        **_HEADER,
    ),
    bag.Instance(
        (bag.Task("b", F(3, 2), priority="soft"), bag.Task("a", 2, 1, 1, 3, 0, "firm", 9)),
        (bag.Machine("m"), bag.Machine("n", 1, 2.5, 1)),
        (bag.Site("x"), bag.Site("y")),
        (bag.Link((0, 1), 4, 0.5),),
        ccr_thresholds=(F(1, 3), 3),
        **_HEADER,
    ),
    bag.Instance(etc=((1, 2), (None, 4))),
)  # fmt: skip

OTHERS: tuple[Record, ...] = (
    iit.Solution((iit.Chunk(0, *_CHUNK_TIMES),)),
    admission.Solution((_DECISION,), (admission.Chunk("a", 0, *_CHUNK_TIMES),)),
    admission.Trace(
        (_DECISION,),
        (admission.Executed("a", 0, *_CHUNK_TIMES, lost=7),),
        (admission.Dropped("a", 1, 7),),
        (admission.BrokenPromise("a", 7, "failure"),),
    ),
    admission.Scenario((admission.Factor("a", 2, F(1, 2)),), (admission.Failure(1, 2, 3),)),
    multistage.Solution(
        (_DECISION,),
        (multistage.Grant("r", False, 1, (1,), conflict="task", missed="a"),),
        (admission.Chunk("a", 0, *_CHUNK_TIMES),),
    ),
    multistage.Trace(
        (_DECISION,),
        (admission.Executed("a", 0, *_CHUNK_TIMES),),
        grants=(multistage.Grant("r", True, 1, (1,)),),
        reservations=(multistage.ExecutedReservation("r", (1,), 1, 2, 5, lost=3),),
        moves=(multistage.Move("r", (1,), 2, "failure"),),
        broken_reservations=(multistage.BrokenReservation("r", 3, "overrun"),),
    ),
    multistage.Scenario(
        (admission.Factor("a", 2, F(1, 2)),),
        (admission.Failure(1, 2, 3),),
        ends=(multistage.TrueEnd("r", 4),),
    ),
    coreservation.Solution(
        (coreservation.Decision("r", True, 5, reason="late"),),
        (coreservation.Share("r", 0, 1, 5),),
        (coreservation.Change("r", 0, 1, 5),),
    ),
    dag.Solution((dag.Placement(0, 1, 1, 3),)),
    dag.Trace(
        (dag.Course(0, 1, 2, 3, 9),),
        (dag.Run(0, 1, 1, 2, "done", 3, 5, 6, 6),),
        (dag.Outage(0, 4, 5),),
        (dag.Outage(0, 4, 7),),
    ),
    bag.Solution((bag.Placement("a", 1, 2, 3),)),
)
