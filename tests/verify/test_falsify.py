"""Searches that must find something, and searches that must not; bounded by examples."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import NotApplicableError, Result, Status, check, io, plot, registry, solve
from dlopt.problems.admission import Chunk, Decision, Solution
from dlopt.problems.admission import objective as worth
from dlopt.problems.dag import Solution as Schedule
from dlopt.verify import Size, claims, falsify, save

FLAWED = [
    ("iit", "opr:literal-timeline", "transmission-duration"),
    ("iit", "opr:literal-logarithm", "deadline"),
    ("iit", "epr:literal-roots", "deadline"),
    ("admission", "edf-opr-mn:literal", "channel-overlap"),
    ("admission", "fast-edf-iit:literal-waiting", "load-not-conserved"),
    ("multistage", "multi-stage:literal-F1", "load-not-conserved"),
    ("multistage", "multi-stage:literal-F9", "starts-before-arrival"),
    ("coreservation", "rspb:literal", "overload"),
    ("coreservation", "co-rsbfr:literal-fixed", "wrong-machine"),
    ("bag", "gds:literal-duplicate", "duplicate-task"),
    ("bag", "gds:literal-transmission", "starts-before-input"),
]
FALSE = [
    ("iit", "opr:literal-binary-search", "fewest-nodes"),
    ("admission", "mcdf", "accepts-what-edf-accepts"),
    ("dag", "heft", "monotone"),
]
SOUND = [
    ("iit", "opr"),
    ("iit", "edf-iit-2"),
    ("iit", "bound-fluid"),
    ("admission", "edf-iit-2"),
    ("admission", "fast-edf-iit"),
    ("multistage", "multi-stage"),
    ("multistage", "priced-multi-stage"),
    ("coreservation", "co-rsbfr"),
    ("dag", "heft"),
    ("bag", "gds"),
]


@pytest.mark.parametrize(("stem", "name", "kind"), FLAWED)
def test_a_flaw_is_found_again_from_nothing(stem, name, kind):
    found = falsify(stem, name, kind=kind, examples=600, shipped=False).finding
    assert found.kind == kind
    again = solve(found.instance, name, objective=found.goal.name)
    assert again.status is Status.UNSOUND
    assert kind in {violation.kind for violation in again.violations}
    assert kind in {one.kind for one in check(found.instance, again.solution)}
    assert found.size <= (3, 2)


@pytest.mark.parametrize(("stem", "name", "claim"), FALSE)
def test_a_claim_that_is_no_violation_is_broken(stem, name, claim):
    found = falsify(stem, name, claim=claim, examples=600, shipped=False).finding
    assert found.kind == "worse-than-claimed"
    assert found.claim == claim
    assert found.texts


@pytest.mark.parametrize(("stem", "name"), SOUND)
def test_nothing_is_found_of_what_is_sound(stem, name):
    search = falsify(stem, name, examples=60, shipped=False)
    assert search.finding is None
    assert search.tried + search.not_applicable == 60
    assert search.tried > 0


@pytest.mark.parametrize("stem", registry.stems())
def test_a_kind_that_does_not_exist_is_refused(stem):
    first, kinds = registry.methods(stem)[0].name, registry.problem(stem).module.KINDS
    with pytest.raises(NotApplicableError, match=f"no violation 'late' .known: {kinds[0]}, "):
        falsify(stem, first, kind="late")
    for kind in (
        *kinds,
        "value",
        "failed-verification",
        "failed",
        "bound-violated",
        "worse-than-claimed",
    ):
        assert falsify(stem, first, kind=kind, examples=1, shipped=False).finding is None


def test_equal_seeds_find_equal_instances():
    def search(seed):
        return falsify("bag", "gds:literal", examples=300, seed=seed, shipped=False)

    assert search(5).finding == search(5).finding
    other = [search(seed).tried for seed in range(6)]
    assert len(set(other)) > 1


def test_a_finding_says_whether_any_plan_could_do_it():
    """Two tasks at once: no plan accepts both. A task placed twice could be placed once."""
    assert falsify("admission", "edf-opr-mn:literal", examples=99).finding.impossible is True
    assert falsify("bag", "gds:literal-duplicate", examples=99).finding.impossible is False


def first_free_node(instance, *, objective, limits, hint, seed):
    """Forget the channel."""
    cluster, free = instance.cluster, list(instance.free_times)
    decisions, chunks = [], []
    for task in instance.tasks:
        node = free.index(min(free))
        start = max(free[node], task.arrival)
        sent = start + cluster.theta_cm + task.load * cluster.tau_of(node)
        done = sent + cluster.theta_cp + task.load * cluster.chi_of(node)
        accepted = done <= task.absolute_deadline
        decisions.append(Decision(task.id, accepted, task.arrival))
        if accepted:
            free[node] = done
            chunks.append(Chunk(task.id, node, task.load, start, sent, sent, done))
    plan = Solution(tuple(decisions), tuple(chunks))
    return Result(Status.FEASIBLE, plan, value=worth(instance, plan, objective))


def test_a_function_of_ones_own():
    found = falsify("admission", first_free_node, examples=300).finding
    assert (found.method, found.kind, found.size) == ("first-free-node", "channel-overlap", (2, 2))
    assert found.impossible
    assert found.result.status is Status.UNSOUND


def of(change):
    """Return an algorithm that changes the answer of a sound one."""

    def method(instance, *, objective, limits, hint, seed):
        return change(
            registry.method("admission", "fifo-epr-mn").load()(instance, objective=objective)
        )

    return method


def boasting(answer):
    return replace(answer, value=answer.value + 1)


def failing(answer):
    raise ZeroDivisionError("by zero")


def talking(answer):
    return "accepted"


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (boasting, "failed-verification", "it reports accepted 1, but the schedule has accepted 0"),
        (failing, "failed", "ZeroDivisionError: by zero"),
        (talking, "failed", "it returned a str, not a Result"),
    ],
)
def test_a_function_that_fails_or_says_what_is_wrong(change, kind, text):
    found = falsify("admission", of(change), examples=30).finding
    assert (found.claim, found.kind) == ("sound", kind)
    assert text in found.texts[0]
    assert found.size == (1, 1)
    if kind == "failed":
        assert found.result is None
        assert found.impossible is None


def test_a_function_that_never_does_the_same_twice():
    """What was seen is told, even if it is not seen again."""
    seen = []

    def moody(instance, *, objective, limits, hint, seed):
        seen.append(instance)
        change = boasting if len(seen) == 3 else lambda answer: answer
        return of(change)(instance, objective=objective, limits=limits, hint=hint, seed=seed)

    found = falsify("admission", moody, examples=30).finding
    assert found.instance is seen[2]
    assert found.kind == "failed-verification"
    assert len(seen) > 3


def lower(instance, *, objective, limits, hint, seed):
    """Promise a bound that is too low, as an exact method would."""
    found = registry.method("iit", "opr").load()(instance, objective="completion")
    return replace(found, status=Status.OPTIMAL, bound=found.value)


def hopeless(instance, *, objective, limits, hint, seed):
    return Result(Status.INFEASIBLE, objective=objective)


@pytest.mark.parametrize(
    ("function", "text"), [(lower, "better than the bound"), (hopeless, "reports infeasible")]
)
def test_a_proof_that_is_none_is_beaten(function, text):
    entry = replace(registry.method("iit", "edf-iit-2"), name="own", target=function)
    found = falsify("iit", entry, examples=200).finding
    assert (found.claim, found.kind) == ("optimal", "bound-violated")
    assert text in found.texts[0]


def test_bounds_are_held_against_plans():
    def half(instance, *, objective, limits, hint, seed):
        found = registry.method("iit", "bound-fluid").load()(instance, objective=objective)
        return replace(found, bound=found.bound * 2)

    entry = replace(registry.method("iit", "bound-fluid"), name="own", target=half)
    found = falsify("iit", entry, examples=60).finding
    assert (found.claim, found.kind) == ("bound", "bound-violated")


def test_enumeration_finds_what_random_sampling_does_not(monkeypatch):
    from dlopt.verify import falsification

    monkeypatch.setattr(falsification, "INSTANCES_PER_ROUND", 0)
    monkeypatch.setattr("dlopt.verify.strategies.find_by_hypothesis", lambda *a, **k: None)
    search = falsify("admission", "edf-opr-mn:literal", examples=3000, shipped=False)
    assert search.phase == "enumeration"
    assert search.finding.size <= (2, 2)


def test_hypothesis_finds_what_the_others_do_not(monkeypatch):
    from dlopt.verify import falsification

    monkeypatch.setattr(falsification, "MAX_ENUMERATED", 0)
    monkeypatch.setattr(falsification, "RandomSource", lambda rng: searching_lightest())
    search = falsify(
        "multistage",
        "multi-stage:literal-F9",
        kind="starts-before-arrival",
        examples=3000,
        shipped=False,
    )
    assert search.phase == "hypothesis"
    assert search.finding.kind == "starts-before-arrival"


def searching_lightest():
    from dlopt.verify.choice_sequence import RecordedSource

    return RecordedSource([])


def test_a_search_ends_when_the_time_is_up():
    told = []
    search = falsify("dag", "heft", seconds=0.6, progress=told.append, shipped=False)
    assert search.finding is None
    assert told == sorted(told)
    assert told[-1] <= search.tried
    assert search.rate > 0


def test_the_largest_gap(monkeypatch):
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 20)
    search = falsify("dag", "p-level", target="gap", examples=25, size=Size(3, 2))
    found = search.finding
    assert search.phase == "annealing"
    assert (found.claim, found.kind) == ("gap", "gap")
    assert found.gap > 0
    assert found.optimum.status is Status.OPTIMAL
    best = found.optimum.value
    assert found.gap == (found.result.value - best) / Fraction(best)
    assert "relative gap" in found.texts[0]


def test_no_gap_is_larger_than_all(monkeypatch):
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 20)
    search = falsify("bag", "olb", target="gap", objective="accepted", examples=60, size=Size(2, 2))
    assert search.finding.gap == 1
    assert search.tried + search.not_applicable < 60


def test_instances_without_a_gap_are_counted_by_the_reason(monkeypatch):
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 0)
    search = falsify("multistage", "multi-stage", target="gap", examples=40, seed=1)
    reasons = dict(search.skip_reasons)
    assert sum(reasons.values()) == search.not_applicable
    assert reasons["no optimum is proven for plans of class any"] > 0
    assert "no optimum is proven for plans of class any (" in str(search)


def test_an_optimal_heuristic_has_no_gap():
    assert falsify("iit", "edf-iit-2", target="gap", examples=15).finding is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "opt"}, "no method 'opt'"),
        ({"method": 3}, "a name or a function"),
        ({"stem": "tsp"}, "no problem 'tsp'"),
        ({"target": "moon"}, "target must be claim or gap"),
        ({"seconds": 0}, "must be positive"),
        ({"examples": 0}, "examples must be an integer from 1 on, got 0"),
        ({"claim": "shuffle-helps"}, "no claim 'shuffle-helps' about opr"),
        ({"objective": "accepted"}, "opr has no objective 'accepted'"),
        ({"target": "gap", "claim": "sound"}, "no claim and no kind"),
        ({"target": "gap", "method": "exact"}, "exact is no heuristic"),
        ({"options": {"assignment": "some"}}, "option assignment takes best or all"),
    ],
)
def test_what_makes_no_sense_is_told(options, text):
    given = {"stem": "iit", "method": "opr", "examples": 1} | options
    with pytest.raises(NotApplicableError, match=text):
        falsify(given.pop("stem"), given.pop("method"), **given)


def test_a_method_is_asked_with_the_options_of_the_claim_or_of_the_caller(tmp_path):
    """By default HYBRID plans while 49 tasks wait: on small instances it is EDF-IIT-2."""
    given = {"claim": "as-good-as-planned", "examples": 400}
    found = falsify("admission", "hybrid", **given).finding
    assert (found.kind, found.options) == ("worse-than-claimed", {"threshold": 1})
    assert found.size == (2, 2)
    mine, theirs = (
        solve(found.instance, name, objective="accepted", **options).value
        for name, options in (("hybrid", {"threshold": 1}), ("edf-iit-2", {}))
    )
    assert mine < theirs
    assert "threshold=1" in io.read(save(found, tmp_path)[0]).origin
    assert falsify("admission", "hybrid", options={}, **given).finding is None


def test_the_gap_of_a_method_with_options():
    words = {"target": "gap", "objective": "accepted", "examples": 60, "size": Size(2, 1)}
    found = falsify("bag", "edf", options={"tardy": "run"}, **words).finding
    assert found.options == {"tardy": "run"}
    assert found.gap > 0


def test_what_proves_something_is_tried_on_small_instances_first(monkeypatch):
    sizes = []

    def told(case):
        sizes.append((len(case.instance.tasks), len(case.instance.machines)))
        return ()

    never = replace(claims()[0], check=told)
    monkeypatch.setattr("dlopt.verify.falsification.claim_of", lambda entry, name: never)
    falsify("bag", "exact", examples=36)
    small = [size for size in sizes if size <= (2, 2)]
    assert len(small) >= 24
    assert max(sizes) > (2, 2)


def test_claims_are_about_methods_that_exist():
    for claim in claims():
        for name in claim.methods:
            entry = registry.method(claim.stem, name)
            assert claim in claims(entry)
            assert claim.objective in entry.objectives


def test_findings_are_written_as_files_that_are_read_again(tmp_path):
    finding = falsify("admission", "edf-opr-mn:literal", examples=99).finding
    drawn = []
    files = save(finding, tmp_path / "new", lambda *what: drawn.append(what))
    instance = io.read(files[0])
    assert instance == finding.instance
    assert instance.name == files[0].stem == "edf-opr-mn-literal-channel-overlap"
    assert instance.origin.startswith("made for dlopt, ")
    again = io.read_plan(files[-1], instance)
    assert check(instance, again.solution) == finding.result.violations
    assert drawn == [(instance, finding.result, files[1])]
    assert files[1].suffix == ".svg"


def test_an_empty_schedule_is_found_without_a_picture(tmp_path):
    def idle(instance, *, objective, limits, hint, seed):
        return Result(Status.FEASIBLE, Schedule(()), value=0)

    finding = falsify("dag", idle, examples=30).finding
    files = save(finding, tmp_path, plot)
    assert [file.name for file in files] == [
        "idle-task-missing.json",
        "idle-task-missing.result.json",
    ]
    assert sorted(files) == sorted(tmp_path.iterdir())


def test_a_failure_leaves_the_instance_alone(tmp_path):
    finding = falsify("admission", of(failing), examples=30).finding
    assert [file.name for file in save(finding, tmp_path)] == ["method-failed.json"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    finding = falsify("admission", of(failing), examples=30).finding
    with pytest.raises(NotApplicableError, match="cannot make"):
        save(finding, tmp_path / "file" / "folder")
