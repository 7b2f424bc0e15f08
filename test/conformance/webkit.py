"""Opens the console in WebKit, the engine of Safari, and prints what was seen there as JSON. Arguments: the printed link, and a CSV file to upload."""

import json
import re
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
NARROW, WIDE = (400, 860), (1280, 860)

link, csv = sys.argv[1:]
options = Options()
options.binary_location = BROWSER
options.add_argument("--automation")
driver = webdriver.WebKitGTK(options=options, service=Service("/usr/bin/WebKitWebDriver"))
site = re.match(r"http://[^/]+", link).group(0)


def wait(found):
    return WebDriverWait(driver, 60).until(found)


def text():
    return driver.find_element(By.TAG_NAME, "body").text


def press(name):
    named = f"//*[self::button or self::a][normalize-space()='{name}' or starts-with(normalize-space(), '{name} ')]"
    wait(lambda _: [one for one in driver.find_elements(By.XPATH, named) if one.is_displayed()])[0].click()


def field(label):
    script = "return [...document.querySelectorAll('label')].find((one) => one.checkVisibility() && one.textContent.trim() === arguments[0])?.control"
    return wait(lambda _: driver.execute_script(script, label))


def measure(path):
    """How many pixels a page is wider than the window, once its heading is there."""
    driver.get(site + path)
    wait(lambda _: driver.find_elements(By.CSS_SELECTOR, "main h1"))
    wait(lambda _: not driver.find_elements(By.CSS_SELECTOR, "[data-awaited]:not([data-awaited=false])"))
    return driver.execute_script("return document.documentElement.scrollWidth - innerWidth")


try:
    driver.set_window_size(*WIDE)
    driver.get(link)
    wait(lambda _: "leaf_measurements" in text())
    experiment = re.sub(site, "", driver.current_url).split("?")[0]

    press("leaf_measurements")
    wait(lambda _: "of 480" in text())
    press("Filter")
    Select(field("Column")).select_by_visible_text("treatment")
    value = field("Value")
    value.click()
    value.send_keys("drought")
    press("Apply")
    wait(lambda _: "of 240" in text())
    filtered = "treatment is drought" in text()

    driver.get(f"{site}{experiment}/uploads")
    wait(lambda _: driver.find_elements(By.CSS_SELECTOR, "input[type=file]:not([webkitdirectory])"))[0].send_keys(csv)
    press("Upload the file")
    wait(lambda _: re.search(r"/uploads/[0-9a-f-]{36}", driver.current_url))
    wait(lambda _: "Open the table" in text())
    press("Open the table")
    wait(lambda _: "of 3" in text())
    cells = driver.execute_script("return [...document.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent)")

    driver.set_window_size(*NARROW)
    links = [experiment, "/", "/account", "/devices", "/organizations", "/library/macros", "/library/protocols", "/library/workbooks"]
    links += [f"{experiment}/{part}" for part in ("charts", "dashboards", "workbook", "metadata", "sharing", "settings", "uploads")]
    wider = {}
    while links:
        path = links.pop(0)
        wider[path] = measure(path)
        if path.startswith("/library/") and path.count("/") == 2:
            made = [one.get_attribute("href") for one in driver.find_elements(By.CSS_SELECTOR, "main h2 a, main h3 a")]
            links += [href[len(site) :] for href in made[:1]]
    print(json.dumps({"filtered": filtered, "cells": cells, "wider": wider}))
finally:
    driver.quit()
