"""What is not shown in a picture: panels without rows, and numbers that no row has."""

import re

from recollect_papers.figure import Figure, draw


def rows(panels, places):
    return [{"x": x, "y": 1.0, "panel": f"panel {n}"} for n in range(panels) for x in places]


def test_a_grid_with_more_places_than_panels():
    for panels in (2, 4, 5):
        picture = draw(Figure("x", "y", panels="panel"), rows(panels, [0.0, 1.0]))
        assert len(re.findall('id="axes_', picture)) == panels


def test_few_whole_numbers_stand_on_the_axis():
    def texts(places, **axes):
        return re.findall("<text[^>]*>([^<]*)", draw(Figure("x", "y", **axes), rows(1, places)))

    assert texts([2, 3, 5])[:4] == ["2", "3", "5", "x"]
    assert texts([50, 100, 400], log="x")[:4] == ["50", "100", "400", "x"]
    assert texts([2.0, 3.0])[:3] == ["2.0", "2.2", "2.4"]
    assert texts(list(range(100))).index("x") < 10
