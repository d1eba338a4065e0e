"""Messy scripts after public reports: errors in a sentence, arguments, single rows, imports without end."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import msgspec
import pytest
from played import CASES, Played, copied, trusted
from test_host_process import Client

from landscope.contract import job as j
from landscope.contract.deltas import CheckpointMeasured, RunListed
from landscope.contract.events import Hello, Log, Started
from landscope.project.spec import load_project, run_names

RUN = "ckpts"
ERRORS = {
    "a_syntax.py": r"a_syntax.py line 1: syntax error",
    "b_no_function.py": r"b_no_function.py line 2: .* without a function build_model\(\)",
    "c_needs_args.py": r"c_needs_args.py line 3: build_model\(\) needs the argument 'args'",
    "d_returns_tuple.py": "",
    "e_vector_loss.py": "",
    "f_float_labels.py": r"f_float_labels.py line 7: .*the labels are \(4,\) float32; write loss\(",
    "g_raises_on_batch_2.py": r"g_raises_on_batch_2.py line 11: ValueError .*batch 2 of 3 .*out of range",
    "h_import_missing.py": r"h_import_missing.py line 1: the module 'a_package_that_is_not_\w+' is not",
    "i_empty_data.py": r"i_empty_data.py line 6: build_data\(\) gave no batches",
}
"""How the sentence begins; empty where the script can be used after all (a loss per sample is welcome)."""


def losses(played: Played) -> dict[str, float]:
    assert played.done
    return {one.checkpoint: one.loss for one in played.all(CheckpointMeasured)}


@pytest.mark.parametrize("script", ERRORS)
def test_that_an_error_of_a_script_is_one_sentence(script, tmp_path):
    expected = copied("58_errors_of_the_script", tmp_path)[2]
    assert set(ERRORS) == set(expected["scripts"])
    project = trusted(load_project(tmp_path / "58_errors_of_the_script" / script))
    probe, evaluated = j.ProbeJob(project=project), j.EvaluateJob(project=project, run=RUN)
    if not ERRORS[script]:
        assert Played(probe).answer["splits"]["train"]["loss"] > 0
        return
    failure = Played(evaluated).failure
    assert re.match(ERRORS[script], failure) and "\n" not in failure


def test_that_a_script_says_which_arguments_it_wants_and_is_given_them(tmp_path):
    project, _, expected = copied("47_argparse_at_import", tmp_path)
    asked = Played(j.EvaluateJob(project=project, run=RUN))
    assert "the following arguments are required: --data" in asked.failure and "--args" in asked.failure
    assert "usage: train.py [-h]" in asked.ending.detail
    told = msgspec.structs.replace(project, arguments=tuple(expected["needs_arguments"].split()))
    assert losses(Played(j.EvaluateJob(project=told, run=RUN))) == pytest.approx(expected["loss"], rel=1e-5)


def test_that_the_averaged_weights_can_be_chosen(tmp_path):
    project, _, expected = copied("05_model_and_ema", tmp_path)
    for name in ("model_ema", "averaged"):
        chosen = msgspec.structs.replace(project, weights=name)
        played = Played(j.EvaluateJob(project=chosen, run=RUN))
        assert losses(played) == pytest.approx(expected["loss_ema"], rel=1e-5)
        assert {info.sets for info in played.last(RunListed).checkpoints} == {("model_ema", "model")}


def test_that_a_last_batch_of_one_row_is_joined_where_the_model_needs_it(tmp_path):
    copied("45_last_batch_of_one", tmp_path)
    script = tmp_path / "45_last_batch_of_one" / "model_no_running_stats.py"
    project = trusted(load_project(script))
    played = Played(j.EvaluateJob(project=project, run="ckpts_no_running_stats"))
    assert set(losses(played)) == {"nrs0.pt", "nrs30.pt"}
    assert any("single row" in sentence and "joined" in sentence for sentence in played.notices)
    line = Played(j.LineJob(project=project, id="line", run="ckpts_no_running_stats"))
    assert line.done


@pytest.mark.parametrize(
    ("slug", "key"),
    [
        ("41_functional_dropout", "spread_of_20_evaluations_fd60"),
        ("42_shuffle_and_augment", "spread_of_10_passes"),
    ],
)
def test_that_random_models_and_data_give_the_same_numbers_twice(slug, key, tmp_path):
    project, _, expected = copied(slug, tmp_path)
    first, again = (losses(Played(j.EvaluateJob(project=project, run=RUN))) for _ in range(2))
    low, high = expected[key]
    assert first == again
    assert low - (high - low) < next(iter(first.values())) < high + (high - low)  # of the last one


def test_that_workers_and_two_projects_in_turn_do_no_harm(tmp_path):
    for slug in ("48_sibling_engine_app", "44_workers_lambda", "55_global_state", "48_sibling_engine_app"):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        project, _, expected = copied(slug, folder)
        found = losses(Played(j.EvaluateJob(project=project, run=next(iter(run_names(project))))))
        assert found == pytest.approx(expected["loss"], rel=1e-5)


def test_that_an_import_that_trains_can_be_watched_and_stopped(tmp_path):
    project = copied("56_trains_at_import", tmp_path)[0]
    client = Client()
    try:
        client.until(Hello)
        client.send(j.RunJob(id="losses", job=j.EvaluateJob(project=project, run=RUN)))
        seen = client.until(Log)
        assert seen[-1].body.text == "training" and isinstance(seen[0].body, Started)
    finally:
        client.close()  # what Stop does to a host that does not listen
    assert client.process.poll() is not None


def test_that_large_activations_are_never_kept(tmp_path):
    """The most memory that a process ever holds, beside that of one that only runs the model."""
    project = copied("40_big_activations", tmp_path)[0]
    jobs = {
        "once": "ProbeJob(project=project)",
        "all": f"SaturationJob(project=project, run={RUN!r}, checkpoints=('big4.pt',))",
    }
    most = {}
    for name, job in jobs.items():
        code = f"""
            import resource, sys
            sys.path.insert(0, {str(CASES.parents[1] / "integration")!r})
            from played import Played, trusted, load_project
            from landscope.contract.job import ProbeJob, SaturationJob
            project = trusted(load_project({project.root!r}))
            assert Played({job}).done
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
        ran = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, check=True, text=True
        )
        most[name] = int(ran.stdout.split()[-1]) / 1024
    assert most["all"] - most["once"] < 300
