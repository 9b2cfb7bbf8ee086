import HTTPTypes
import Hummingbird
import IoTCore
import NIOCore

/// The page at `/watch/{device}`: docs/examples/watch.html, which a test holds this text against. It is the same for
/// whoever asks, of whatever device, so it tells a stranger nothing.
enum WatchPage {
    /// Only the page's own script and style run, by a number used once (CSP level 3 §2.3.1), and requests go nowhere
    /// but here.
    static var response: Response {
        let nonce = Hex.random(byteCount: 16)
        let text = html.replacing("<script>", with: "<script nonce=\"\(nonce)\">")
            .replacing("<style>", with: "<style nonce=\"\(nonce)\">")
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src data:", "media-src 'self' blob: mediastream:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
        ]
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentLength: String(text.utf8.count),
                .contentSecurityPolicy: policy.joined(separator: "; "),
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static let html = #"""
        <!DOCTYPE html>
        <!--
          Watches a camera of an iotvideod gateway by WHEP. The gateway serves this page itself as /watch/CAMERA. To use
          it from elsewhere, name that origin in api.allowedOrigins: `python3 -m http.server 8000` here, and
          `allowedOrigins: ["http://localhost:8000"]` there. #server=…&device=… in the address fill in the fields.
          The token is typed in; it is never part of an address, and it is not stored.
        -->
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <link rel="icon" href="data:,">
        <title>Watch a camera</title>
        <style>
          body { font: 16px/1.4 system-ui, sans-serif; margin: 0; background: #16181d; color: #e8eaee; }
          main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
          form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin-bottom: 1rem; }
          label { display: grid; font-size: .8rem; gap: .2rem; flex: 1 1 12rem; }
          input, button { font: inherit; padding: .45rem .6rem; border-radius: .3rem; border: 1px solid #444b57; }
          input { background: #22262e; color: inherit; }
          button { background: #2f6fde; border-color: #2f6fde; color: #fff; min-width: 6rem; cursor: pointer; }
          button:disabled { opacity: .5; cursor: default; }
          #stop { background: #444b57; border-color: #444b57; }
          video { width: 100%; aspect-ratio: 4 / 3; background: #000; border-radius: .3rem; }
          #state[data-kind=error] { color: #ff9a8f; }
        </style>
        </head>
        <body>
        <main>
          <form id="form">
            <label>Gateway <input id="server" type="url" required placeholder="http://127.0.0.1:8080"></label>
            <label>Camera <input id="device" required placeholder="front"></label>
            <label>API token <input id="token" type="password" required autocomplete="off"></label>
            <button id="watch">Watch</button>
            <button id="stop" type="button" disabled>Stop</button>
          </form>
          <video id="video" autoplay playsinline muted controls></video>
          <p id="state" role="status">Sound is off until you switch it on: browsers want a click for that.</p>
        </main>
        <script>
        "use strict";

        /** A WHEP viewer (draft-ietf-wish-whep). */
        class Viewer {
          constructor(url, token, onState) {
            this.url = url;
            this.token = token;
            this.onState = onState;
            this.stream = new MediaStream();
            this.candidates = [];
            this.call = null;
            this.ended = false;
          }

          async start() {
            const peer = this.peer = new RTCPeerConnection();
            peer.addTransceiver("video", { direction: "recvonly" });
            peer.addTransceiver("audio", { direction: "recvonly" });
            peer.ontrack = ({ track }) => this.stream.addTrack(track);
            peer.onicecandidate = ({ candidate }) => this.trickle(candidate);
            peer.onconnectionstatechange = () => this.onState(peer.connectionState);
            const offer = await peer.createOffer();
            const answer = await this.ask("POST", this.url, "application/sdp", offer.sdp);
            this.call = new URL(answer.headers.get("Location"), this.url);
            this.etag = answer.headers.get("ETag");
            if (this.ended) return this.stop();
            const iceServers = Viewer.iceServers(answer.headers.get("Link"));
            if (iceServers.length) peer.setConfiguration({ ...peer.getConfiguration(), iceServers });
            // Only now are candidates gathered: with the servers that the answer named.
            await peer.setLocalDescription(offer);
            await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
            // The camera's goodbye: the connection itself would only be missed after some seconds.
            const transport = peer.getReceivers().map((receiver) => receiver.transport).find((found) => found);
            transport?.addEventListener("statechange", () => {
              if (transport.state === "closed" && !this.ended) this.onState("closed");
            });
            this.flush();
          }

          /** `Link: <stun:…>; rel="ice-server"; username="…"; credential="…"` (RFC 9725 §4.6). */
          static iceServers(field) {
            return [...(field ?? "").matchAll(/<((?:stun|turn)s?:[^>]*)>([^<]*)/g)].map(([, urls, rest]) => {
              const value = (name) => rest.match(new RegExp(`[; ]${name}="([^"]*)"`))?.[1];
              return { urls, username: value("username"), credential: value("credential") };
            });
          }

          /** Candidates that come before the answer wait for it. */
          trickle(candidate) {
            this.candidates.push(candidate);
            if (this.call) this.flush();
          }

          async flush() {
            const candidates = this.candidates.splice(0);
            if (!candidates.length || this.ended) return;
            const ufrag = this.peer.localDescription.sdp.match(/a=ice-ufrag:(.*)/)[1].trim();
            const password = this.peer.localDescription.sdp.match(/a=ice-pwd:(.*)/)[1].trim();
            const lines = [`a=ice-ufrag:${ufrag}`, `a=ice-pwd:${password}`, "m=video 9 UDP/TLS/RTP/SAVPF 0", "a=mid:0"];
            for (const candidate of candidates) {
              if (!candidate) lines.push("a=end-of-candidates");
              else if (candidate.candidate) lines.push(`a=${candidate.candidate}`);
            }
            try {
              await this.ask("PATCH", this.call, "application/trickle-ice-sdpfrag", lines.join("\r\n") + "\r\n");
            } catch (error) {
              if (!this.ended) console.warn("candidates not passed on:", error);
            }
          }

          /** `isLeaving`: the page goes away, the request is to be made all the same. */
          async stop(isLeaving = false) {
            this.ended = true;
            this.peer?.close();
            const call = this.call;
            this.call = null;
            if (call) await this.ask("DELETE", call, undefined, undefined, isLeaving).catch(() => {});
          }

          async ask(method, url, type, body, keepalive = false) {
            const headers = { Authorization: `Bearer ${this.token}` };
            if (type) headers["Content-Type"] = type;
            if (method === "PATCH") headers["If-Match"] = this.etag;
            const answer = await fetch(url, { method, headers, body, keepalive });
            if (answer.ok) return answer;
            const error = (await answer.json().catch(() => null))?.error;
            throw new Error(error ? `${error.message} (${error.code})` : `${method} was answered ${answer.status}`);
          }
        }

        const element = (id) => document.getElementById(id);
        const fragment = new URLSearchParams(location.hash.slice(1));
        const served = location.pathname.match(/^\/watch\/([^/]+)$/);
        element("server").value = fragment.get("server") ?? (served ? location.origin : "");
        element("server").readOnly = served !== null;
        element("device").value = fragment.get("device") ?? (served ? decodeURIComponent(served[1]) : "");
        let viewer = null;

        function show(text, kind = "") {
          element("state").textContent = text;
          element("state").dataset.kind = kind;
        }

        async function stop() {
          const last = viewer;
          viewer = null;
          element("stop").disabled = true;
          element("watch").disabled = false;
          await last?.stop();
        }

        element("form").onsubmit = async (event) => {
          event.preventDefault();
          await stop();
          element("watch").disabled = true;
          element("stop").disabled = false;
          show("Calling the camera …");
          const device = encodeURIComponent(element("device").value);
          const url = new URL(`/v1/devices/${device}/whep`, element("server").value);
          const current = viewer = new Viewer(url, element("token").value, async (state) => {
            if (current !== viewer) return;
            if (state === "connected") show("Watching. Media flow directly from the camera, encrypted end to end.");
            if (state === "disconnected") show("The connection is interrupted …");
            if (state === "failed" || state === "closed") {
              await stop();
              show("The connection is lost, or the camera ended it.", "error");
            }
          });
          element("video").srcObject = viewer.stream;
          try {
            await viewer.start();
          } catch (error) {
            if (current !== viewer) return;
            await stop();
            show(error.message, "error");
          }
        };
        element("stop").onclick = async () => {
          await stop();
          element("video").srcObject = null;
          show("Stopped.");
        };
        addEventListener("pagehide", () => viewer?.stop(true));
        </script>
        </body>
        </html>

        """#
}
