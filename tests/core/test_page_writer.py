from explorer.components.html_export import html_page
from explorer.core import page_writer
from tests.support.example_traces import example_trace


def test_the_package_sets_the_page_of_components():
    trace = example_trace()
    assert page_writer.html_page(trace, "zh") == html_page(trace, "zh")
