extension ErrorCatalogue {
    /// Players (21030–21041): the SDK guide's player table and the SDK's public headers.
    static let players: [Entry] = [
        Entry(
            .notImplemented, "notImplemented", "a needed function is not implemented",
            remedy: "use a gateway, or player parts, that have it"),
        Entry(.invalidParameter, "invalidParameter", "a parameter is wrong", remedy: "correct the parameter"),
        Entry(
            .playbackListEmpty, "playbackListEmpty", "there are no recordings in this time",
            remedy: "choose another time"),
        Entry(
            .playbackListDamaged, "playbackListDamaged", "the list of recordings is damaged",
            remedy: "rebuild the device's index"),
        Entry(
            .recorderRunning, "recorderRunning", "a recording already runs", remedy: "stop it first",
            whyUnused: "any number of recordings of a channel may run, each with a reader of its own"),
        Entry(
            .videoSizeChanged, "videoSizeChanged", "the picture size changed",
            remedy: "start a new recording or raw video"),
        Entry(
            .encoderUnavailable, "encoderUnavailable", "the encoder is not available now", remedy: "try again later",
            whyUnused: "a recording stores frames as they come; an encoder that fails is 21030"),
        Entry(
            .playbackListVersion, "playbackListVersion", "this version of the list of recordings is not supported",
            remedy: "update the gateway or the device",
            whyUnused: "lists are JSON with one version: members that are not known are ignored"),
        Entry(
            .deviceOperationFailed, "deviceOperationFailed", "the device could not do it",
            remedy: "read the device's message"),
        Entry(
            .recorderUnavailable, "recorderUnavailable", "the recorder is not available", remedy: "check the disk"),
        Entry(
            .operationNotAllowed, "operationNotAllowed", "this is not allowed now",
            remedy: "look at the player's state"),
        Entry(
            .mediaHeaderInvalid, "mediaHeaderInvalid", "the device described its audio and video wrongly",
            remedy: "check the camera's stream"),
    ]
}
