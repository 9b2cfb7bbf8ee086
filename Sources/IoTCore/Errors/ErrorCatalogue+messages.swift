extension ErrorCatalogue {
    /// Messages (21000–21008): the SDK guide's message table.
    static let messages: [Entry] = [
        Entry(
            .duplicateMessage, "duplicateMessage", "the same message is already being sent",
            remedy: "wait for the first one"),
        Entry(
            .sendFailed, "sendFailed", "the message could not be sent",
            remedy: "check the link with `iotctl status`"),
        Entry(
            .messageTimeout, "messageTimeout", "no answer came in time",
            remedy: "check that the device is online; raise --timeout"),
        Entry(
            .modelReadFailed, "modelReadFailed", "the thing model could not be read: the answer is damaged",
            remedy: "check the versions of the hub and of the device"),
        Entry(
            .modelReceiveFailed, "modelReceiveFailed", "a damaged thing model arrived",
            remedy: "check both versions"),
        Entry(
            .serverPassThroughFailed, "serverPassThroughFailed", "the message to the server failed",
            remedy: "check the link with `iotctl status`"),
        Entry(
            .devicePassThroughFailed, "devicePassThroughFailed", "the message to the device failed",
            remedy: "check that the device is online"),
        Entry(
            .callbackNotFound, "callbackNotFound", "the answer came too late, or nobody waited for it",
            remedy: "raise --timeout"),
        Entry(
            .messageTooLong, "messageTooLong", "the message is longer than 30,000 bytes",
            remedy: "send it over a channel"),
    ]
}
