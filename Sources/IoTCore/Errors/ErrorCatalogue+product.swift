extension ErrorCatalogue {
    /// This product's own codes (25000–25999).
    static let product: [Entry] = [
        Entry(
            .internalFailure, "internalFailure", "internal error",
            remedy: "report it with the daemon's log"),
        Entry(
            .invalidRequest, "invalidRequest", "the request is malformed",
            remedy: "correct what is named; openapi.yaml (docs/, /usr/share/doc/iotvideod/) describes every request"),
        Entry(
            .invalidConfiguration, "invalidConfiguration", "the configuration is wrong",
            remedy: "correct the named key; `iotvideod --check-config` repeats the check"),
        Entry(.notFound, "notFound", "there is no such thing", remedy: "check the name and the path"),
        Entry(
            .unauthenticated, "unauthenticated", "no valid token came with the request",
            remedy: "send a bearer token, or use the daemon's socket"),
        Entry(
            .forbidden, "forbidden", "the token does not allow this",
            remedy: "use a token with this device and action"),
        Entry(
            .alreadyRunning, "alreadyRunning", "another daemon uses this data directory",
            remedy: "stop it, or give each daemon its own --data-dir"),
        Entry(
            .brokerMissing, "brokerMissing", "the program mosquitto was not found",
            remedy: "apt-get install mosquitto"),
        Entry(
            .brokerFailed, "brokerFailed", "the broker did not start, or ended",
            remedy: "read broker/mosquitto.log in the data directory"),
        Entry(
            .storeFailed, "storeFailed", "the database cannot be read or written",
            remedy: "check the disk's space and rights"),
        Entry(
            .sourceUnreachable, "sourceUnreachable", "the camera's source cannot be reached",
            remedy: "check its URL, power and network"),
        Entry(
            .sourceRefused, "sourceRefused", "the camera refused the user name or password",
            remedy: "correct the camera's `username` and `passwordFile`, then `iotctl reload`; many cameras lock the "
                + "account after a few wrong tries, so it is tried again after two minutes and more"),
        Entry(
            .sourceHostUnknown, "sourceHostUnknown", "the name of the camera's host has no address",
            remedy: "correct the host in its URL, or use its IP address; check this machine's name servers"),
        Entry(
            .sourceNotFound, "sourceNotFound", "the source has no such file or stream",
            remedy: "check the path of its URL: docs/cameras.md lists those of many makers"),
        Entry(
            .sourceBusy, "sourceBusy", "the camera's device is in use",
            remedy: "find the program that uses it with `fuser -v DEVICE` and end it, or remove the other camera with "
                + "this device"),
        Entry(
            .sourceForbidden, "sourceForbidden", "the daemon may not open the camera's device",
            remedy: "add the daemon's user to the device's group, which is `video` on Debian (`usermod -aG video "
                + "USER`), and restart the daemon; the packaged unit has this group"),
        Entry(
            .talkerBusy, "talkerBusy", "somebody else talks to this camera",
            remedy: "try again when they have finished"),
        Entry(
            .backChannelMissing, "backChannelMissing", "the camera has no back channel for sound",
            remedy: "switch on the camera's loudspeaker or two-way audio, and check its URL: some makers have another "
                + "one for it (docs/cameras.md)"),
        Entry(
            .calleeBusy, "calleeBusy", "the camera is in a live call with somebody else",
            remedy: "try again when they have finished, or watch with a monitor channel"),
        Entry(
            .nobodyListens, "nobodyListens", "nobody takes data at the other side of the channel",
            remedy: "start the program that takes them: a camera's reads `GET /v1/cameras/{name}/data`, a user's "
                + "`iotctl channel listen`"),
        Entry(
            .dataTaken, "dataTaken", "another program takes the data of this camera's users",
            remedy: "end it, or let it pass them on"),
        Entry(
            .sourceUnsupported, "sourceUnsupported", "the source holds no track that can be carried",
            remedy: "set the camera to H.264 or H.265 with AAC or G.711"),
        Entry(
            .invalidQRInput, "invalidQRInput", "the QR code's contents are not allowed",
            remedy: "correct the named field"),
        Entry(.payloadTooLarge, "payloadTooLarge", "the payload does not fit", remedy: "shorten it"),
        Entry(
            .versionConflict, "versionConflict", "the value changed meanwhile",
            remedy: "read it again and repeat the write"),
        Entry(
            .daemonUnreachable, "daemonUnreachable", "iotvideod does not answer on its socket",
            remedy: "start it, or name its socket with --socket"),
        Entry(
            .codecUnsupported, "codecUnsupported", "the receiver cannot decode this codec",
            remedy: "choose another stream of the camera"),
        Entry(
            .fileFailed, "fileFailed", "a file cannot be read or written",
            remedy: "check the path, its rights and the disk's space"),
        Entry(.nameTaken, "nameTaken", "this name is in use", remedy: "choose another"),
        Entry(.mediaFailed, "mediaFailed", "the media library failed", remedy: "look at the reason beside it"),
        Entry(.peerFailed, "peerFailed", "the peer connection failed", remedy: "look at the reason beside it"),
        Entry(
            .sessionDescriptionInvalid, "sessionDescriptionInvalid",
            "the session description is damaged or offers nothing usable",
            remedy: "check both peers' versions"),
        Entry(
            .slowReader, "slowReader", "the reader was too slow and whole frames were dropped",
            remedy: "read faster or lower the picture rate"),
        Entry(
            .cameraOff, "cameraOff", "the camera is switched off",
            remedy: "take the action `Action.cameraOn` with 1"),
        Entry(.tooManyRequests, "tooManyRequests", "too many requests wait", remedy: "try again later"),
        Entry(.stopping, "stopping", "the daemon is stopping", remedy: "try again when it is up"),
        Entry(
            .tokenRejected, "tokenRejected", "the hub refused the access token",
            remedy: "get a new token for this access id"),
        Entry(
            .certificateRejected, "certificateRejected", "the certificate of the hub or the camera is not trusted",
            remedy: "check the address and the certificate authority's file; join again if the hub was reinstalled"),
        Entry(
            .requestIDReused, "requestIDReused", "this request id, or idempotency key, was used for something else",
            remedy: "use a new one for each request, and the same only to repeat it"),
        Entry(
            .addressInUse, "addressInUse", "another program uses the port or the socket",
            remedy: "stop it, or configure another port"),
        Entry(
            .definitionUnavailable, "definitionUnavailable", "the camera has none of these definitions",
            remedy: "choose a definition of the camera, or give it a `midUrl` or `lowUrl`"),
        Entry(
            .mediaInterrupted, "mediaInterrupted", "nothing new came in time to be shown",
            remedy: "playing goes on when media come again; `iotctl diagnose` finds the part that is slow"),
    ]
}
