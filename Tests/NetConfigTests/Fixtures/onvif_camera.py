#!/usr/bin/env python3
"""The ONVIF services of a camera with two streams, over HTTP, or over TLS with a self-signed certificate.

Usage: onvif_camera.py [--tls] [--address ADDRESS] [--port PORT]

Reads {"password": …} from the first line of standard input; the user is "admin". Prints {"port": …, "fingerprint": …}.
At the end of standard input it prints {"requests": COUNT, "subscriptions": COUNT}, of those that were not ended, and
ends. Its pull points tell that somebody comes, and at the next pull that nobody is there any more. Only Media2 lists the
larger stream, like real cameras with H.265. It takes firmware at an address of its own, for which HTTP Digest is needed: a
file that begins with a line "PYFW VERSION" is installed.
"""
import argparse
import base64
import contextlib
import datetime
import hashlib
import http.server
import json
import re
import ssl
import sys
import tempfile
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SOAP = "http://www.w3.org/2003/05/soap-envelope"
DEVICE = "http://www.onvif.org/ver10/device/wsdl"
MEDIA = "http://www.onvif.org/ver10/media/wsdl"
MEDIA2 = "http://www.onvif.org/ver20/media/wsdl"
SCHEMA = "http://www.onvif.org/ver10/schema"
EVENTS = "http://www.onvif.org/ver10/events/wsdl"


def certificate(folder):
    """Creates a self-signed certificate that does not contain the host's name, like a camera's. Returns the path of the
    file with certificate and key, and the fingerprint."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "camera")])
    # The certificate has expired, because the camera's clock was wrong when it was created.
    start = datetime.datetime(2000, 1, 1)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(start)
            .not_valid_after(start + datetime.timedelta(days=365)).sign(key, hashes.SHA256()))
    path = folder + "/camera.pem"
    with open(path, "wb") as file:
        file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption()))
        file.write(made.public_bytes(serialization.Encoding.PEM))
    digest = hashlib.sha256(made.public_bytes(serialization.Encoding.DER)).hexdigest().upper()
    return path, ":".join(digest[i:i + 2] for i in range(0, len(digest), 2))


def encoder(codec, width, height):
    return (f"<t:Encoding>{codec}</t:Encoding><t:Resolution><t:Width>{width}</t:Width><t:Height>{height}</t:Height>"
            "</t:Resolution>")


SOURCE = "<t:SourceToken>lens</t:SourceToken>"
SMALL = encoder("H264", 640, 360)


def profile2(token, stream):
    return (f"<m:Profiles token='{token}'><m:Name>{token}</m:Name><m:Configurations><m:VideoSource>{SOURCE}"
            f"</m:VideoSource><m:VideoEncoder>{stream}</m:VideoEncoder></m:Configurations></m:Profiles>")


def answer(question, namespace, place):
    if question == "GetSystemDateAndTime":
        # The clock is years behind, and the camera checks logins with it.
        return ("<d:SystemDateAndTime><t:UTCDateTime><t:Time><t:Hour>1</t:Hour><t:Minute>2</t:Minute><t:Second>3"
                "</t:Second></t:Time><t:Date><t:Year>2000</t:Year><t:Month>2</t:Month><t:Day>29</t:Day></t:Date>"
                "</t:UTCDateTime></d:SystemDateAndTime>")
    if question == "GetServices":
        return "".join(f"<d:Service><d:Namespace>{name}</d:Namespace><d:XAddr>{place}/{path}</d:XAddr></d:Service>"
                       for name, path in ((DEVICE, "device_service"), (MEDIA, "media"), (MEDIA2, "media2"), (EVENTS, "events")))
    if question == "GetProfiles" and namespace == MEDIA2:
        return profile2("main", encoder("H265", 2560, 1440)) + profile2("sub", SMALL)
    if question == "GetProfiles":
        return (f"<m:Profiles token='sub'><t:Name>sub</t:Name><t:VideoSourceConfiguration>{SOURCE}"
                f"</t:VideoSourceConfiguration><t:VideoEncoderConfiguration>{SMALL}</t:VideoEncoderConfiguration>"
                "</m:Profiles>")
    return None


class Firmware:
    """The camera's firmware, of which only the version matters."""

    def __init__(self):
        self.version = "V1.0.2 build 7"

    def answer(self, question, place):
        if question == "GetDeviceInformation":
            return ("<d:Manufacturer>Python</d:Manufacturer><d:Model>PY-1</d:Model>"
                    f"<d:FirmwareVersion>{self.version}</d:FirmwareVersion>")
        if question == "StartFirmwareUpgrade":
            # The client must replace this host by the camera's.
            uri = re.sub("//[^:/]*", "//10.9.8.7", place) + "/firmware"
            return (f"<d:UploadUri>{uri}</d:UploadUri><d:UploadDelay>PT0.2S</d:UploadDelay>"
                    "<d:ExpectedDownTime>PT1S</d:ExpectedDownTime>")
        return None

    def take(self, file, authorization):
        """The status of the answer to an upload."""
        if 'username="admin"' not in authorization or "Digest" not in authorization:
            return 401
        line = file.partition(b"\n")[0].decode("ascii", "replace")
        if not line.startswith("PYFW "):
            return 415
        self.version = line[5:]
        return 200


class PullPoints:
    """The subscriptions to the camera's events, and how often each was pulled."""

    def __init__(self):
        self.pulls = {}

    def answer(self, question, path, body, place):
        number = path.rpartition("/")[2]
        if question == "CreatePullPointSubscription":
            number = str(len(self.pulls) + 1)
            self.pulls[number] = 0
            return (f"<m:SubscriptionReference><a:Address xmlns:a='http://www.w3.org/2005/08/addressing'>{place}/pull/{number}"
                    "</a:Address><a:ReferenceParameters xmlns:a='http://www.w3.org/2005/08/addressing'>"
                    f"<x:Id xmlns:x='urn:python'>id-{number}</x:Id></a:ReferenceParameters></m:SubscriptionReference>")
        # The parameter of the subscription must be in each request.
        if number not in self.pulls or f">id-{number}<" not in body:
            return None
        if question == "Unsubscribe":
            del self.pulls[number]
            return ""
        if question == "PullMessages":
            self.pulls[number] += 1
            if self.pulls[number] > 2:
                time.sleep(0.3)
                return ""
            state = "true" if self.pulls[number] == 1 else "false"
            return ("<n:NotificationMessage xmlns:n='http://docs.oasis-open.org/wsn/b-2'>"
                    "<n:Topic>tns1:RuleEngine/MyRuleDetector/PeopleDetect</n:Topic><n:Message>"
                    "<t:Message PropertyOperation='Changed'><t:Source><t:SimpleItem Name='Source' Value='0'/></t:Source>"
                    f"<t:Data><t:SimpleItem Name='State' Value='{state}'/></t:Data></t:Message></n:Message>"
                    "</n:NotificationMessage>")
        return None


def digest_of(body, password):
    """Whether the request's UsernameToken is correct and uses this camera's time."""
    parts = {name: re.search(rf"<(?:\w+:)?{name}\b[^>]*>([^<]*)<", body)
             for name in ("Username", "Password", "Nonce", "Created")}
    if not all(parts.values()) or not parts["Created"][1].startswith("2000-02-29T01:0"):
        return False
    text = base64.b64decode(parts["Nonce"][1]) + parts["Created"][1].encode() + password.encode()
    return parts["Username"][1] == "admin" and base64.b64encode(hashlib.sha1(text).digest()).decode() == parts["Password"][1]


def handler(password, scheme, counts, pull_points):
    firmware = Firmware()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            counts.append(self.path)
            if self.path == "/onvif/firmware":
                self.send_response(firmware.take(body, self.headers.get("Authorization", "")))
                self.send_header("WWW-Authenticate", 'Digest realm="camera", nonce="abc", qop="auth"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = body.decode()
            question, namespace = re.search(r"Body>\s*<(\w+) xmlns=\"([^\"]*)\"", body).groups()
            place = f"{scheme}://{self.headers['Host']}/onvif"
            status, content = 200, answer(question, namespace, place) or firmware.answer(question, place)
            if content is None and digest_of(body, password):
                content = pull_points.answer(question, self.path, body, place)
            if question != "GetSystemDateAndTime" and not digest_of(body, password):
                status, content = 400, None
                fault = "ter:NotAuthorized"
            elif question == "GetStreamUri":
                token = re.search("<ProfileToken>(.*?)</ProfileToken>", body)[1]
                # The client must replace this host by the camera's.
                uri = f"rtsp://10.9.8.7:8554/{token}"
                content = f"<m:Uri>{uri}</m:Uri>" if namespace == MEDIA2 else f"<m:MediaUri><t:Uri>{uri}</t:Uri></m:MediaUri>"
            elif content is None:
                status, fault = 400, "ter:ActionNotSupported"
            if content is None:
                body = (f"<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>{fault}</s:Value></s:Subcode>"
                        "</s:Code></s:Fault>")
            else:
                body = f"<m:{question}Response xmlns:m='{namespace}' xmlns:d='{DEVICE}'>{content}</m:{question}Response>"
            data = (f"<s:Envelope xmlns:s='{SOAP}' xmlns:t='{SCHEMA}' xmlns:ter='http://www.onvif.org/ver10/error'>"
                    f"<s:Body>{body}</s:Body></s:Envelope>").encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/soap+xml; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores clients that refuse the certificate."""


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tls", action="store_true")
    arguments.add_argument("--address", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=0)
    options = arguments.parse_args()
    password = json.loads(sys.stdin.readline())["password"]
    counts, fingerprint, points = [], "", PullPoints()
    with Server((options.address, options.port), handler(password, "https" if options.tls else "http", counts, points)) as server:
        if options.tls:
            with tempfile.TemporaryDirectory() as folder:
                path, fingerprint = certificate(folder)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(path)
            # The handshake runs on the connection's thread, not in accept().
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(json.dumps({"port": server.server_port, "fingerprint": fingerprint}), flush=True)
        sys.stdin.read()
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"requests": len(counts), "subscriptions": len(points.pulls)}), flush=True)
        server.shutdown()


main()
