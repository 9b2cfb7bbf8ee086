// A program that uses the client that openapi-generator-cli makes of docs/openapi.yaml. It is compiled, not run: the
// compilation fails if the client's types are not usable.
import { Camera, Configuration, DefaultApi, DeviceAction, ErrorResponse, ResponseError, Token } from "./client";

const api = new DefaultApi(new Configuration({ basePath: "https://box.example.net:8443", accessToken: "TOKEN" }));

export async function watch(device: string, offer: string): Promise<string> {
    const answer: Blob = await api.watch({ device, body: new Blob([offer], { type: "application/sdp" }) });
    return await answer.text();
}

export async function pictures(channel: string): Promise<Blob[]> {
    await api.play({ id: channel });
    return [await api.snapshot({ id: channel, format: "png" }), await api.recording({ id: channel, frames: 20 })];
}

export async function addCameras(): Promise<Camera[]> {
    await api.addCamera({ cameraRequest: { name: "lobby", url: "/srv/clips/lobby.mp4" } });
    await api.addCamera({
        cameraRequest: { name: "door", url: "rtsp://192.0.2.7/live", username: "viewer", password: "secret" },
    });
    return (await api.listCameras()).cameras;
}

export async function share(user: string): Promise<Token[]> {
    const actions = new Set([DeviceAction.View, DeviceAction.Control]);
    await api.bindDevice({ device: "door", user, bindingRequest: { actions }, idempotencyKey: "door-1" });
    await api.createToken({ tokenRequest: { kind: "api", ttlSeconds: 3600, devices: ["door"] } });
    return (await api.listTokens()).tokens;
}

export async function number(failure: ResponseError): Promise<number> {
    const body: ErrorResponse = await failure.response.json();
    return body.error.code;
}
