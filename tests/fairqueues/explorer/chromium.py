"""A real browser for tests: headless Chromium, driven by selenium.

Needs the Debian packages chromium and chromium-driver (the test set-up installs them); what is marked with
:data:`NEEDED` is skipped without them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.processes import PATIENCE

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'fairqueues[test]'")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
NEEDED = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="chromium or chromedriver is missing: apt-get install chromium chromium-driver",
)


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """The browser, with its logs, in the size of a laptop's screen."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    size = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield driver
    finally:
        driver.quit()
