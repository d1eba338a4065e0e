"""What a script prints: complete lines, a bounded rate, progress bars as their last state."""

from landscope.runner.streams import LINES_PER_SECOND, LONGEST_LINE, LogStream


def test_that_lines_leave_when_they_end():
    said = []
    stream = LogStream(said.append)
    stream.write("one\ntw")
    assert said == ["one"]
    stream.write("o\n\n  \n")
    assert said == ["one", "two"]


def test_that_a_progress_bar_is_its_last_state():
    said = []
    stream = LogStream(said.append)
    stream.write("\r10 %\r50 %")
    stream.write("\r100 %\n")
    assert said == ["100 %"]


def test_that_endless_printing_is_counted_not_kept():
    said, now = [], [0.0]
    stream = LogStream(said.append, clock=lambda: now[0])
    stream.write("noise\n" * 10_000)
    assert len(said) == LINES_PER_SECOND
    now[0] = 1.5
    stream.write("after\n")
    assert said[-2:] == [f"… {10_000 - LINES_PER_SECOND} more lines", "after"]


def test_that_one_endless_line_stays_short():
    stream = LogStream(lambda _text: None)
    for _ in range(100):
        stream.write("x" * 10_000)
    assert len(stream._line) <= LONGEST_LINE
