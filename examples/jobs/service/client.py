"""Asks the service, as long as somebody listens."""
import os
import time
import urllib.error
import urllib.request

url = (f"http://{os.environ['PAI_HOST_IP_service_0']}:"
       f"{os.environ['PAI_PORT_LIST_service_0_http']}/")
while True:  # the job ends when the service does, and this with it
    try:
        with urllib.request.urlopen(url) as answer:
            print(answer.read().decode().strip(), flush=True)
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.05)  # it is not up, or has just gone
