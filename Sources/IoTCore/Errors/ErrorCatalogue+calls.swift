extension ErrorCatalogue {
    /// Calls between terminals (20001–20018): the SDK guide's P2P tables and the SDK's public headers.
    static let calls: [Entry] = [
        Entry(
            .peerTimeout, "peerTimeout", "the peer did not acknowledge the message in time",
            remedy: "check that the device is online and try again"),
        Entry(.hungUp, "hungUp", "the peer hung up", remedy: "call again when it is ready"),
        Entry(
            .callSendTimeout, "callSendTimeout", "the call could not be delivered in time",
            remedy: "check the link status and try again"),
        Entry(
            .noRelayAddress, "noRelayAddress", "no relay address was assigned",
            remedy: "configure a TURN server or open a direct way"),
        Entry(
            .handshakeTimeout, "handshakeTimeout", "the encrypted connection was not made in time",
            remedy: "check that UDP reaches the peer"),
        Entry(
            .callTokenRejected, "callTokenRejected", "the device rejected the call's token",
            remedy: "register again; check both clocks"),
        Entry(
            .allChannelsBusy, "allChannelsBusy", "the camera serves its maximum number of viewers",
            remedy: "close another viewer or raise `viewers`"),
        Entry(
            .timeoutDisconnected, "timeoutDisconnected", "the peer was silent for too long and was disconnected",
            remedy: "check the network and play again"),
        Entry(
            .callTargetNotFound, "callTargetNotFound", "the call's target is unknown",
            remedy: "list what exists with `iotctl device list`"),
        Entry(
            .callTokenInvalid, "callTokenInvalid", "the call's token is damaged, expired or for something else",
            remedy: "register again; check both clocks"),
        Entry(.deviceDisabled, "deviceDisabled", "the device is disabled", remedy: "switch it on first"),
        Entry(.duplicateCall, "duplicateCall", "this call is already being made", remedy: "wait for the first one"),
        Entry(.callerHungUp, "callerHungUp", "the caller hung up before the call was made", remedy: "call again"),
        Entry(
            .relationChanged, "relationChanged", "the binding changed and ended the channel",
            remedy: "ask the device's owner"),
        Entry(
            .libraryNotInitialised, "libraryNotInitialised", "the library is not set up",
            remedy: "register before calling",
            whyUnused: "the library has no such state: its types are set up when they are created"),
        Entry(
            .lanNotAllowed, "lanNotAllowed", "the device does not allow this over the local network",
            remedy: "use the hub's link"),
        Entry(
            .noRelation, "noRelation", "there is no relation between the account and the device",
            remedy: "bind the device first",
            whyUnused: "the hub checks the binding before it asks the device, and answers 8003"),
        Entry(.appNotOnline, "appNotOnline", "the user's terminal is not online", remedy: "register it first"),
        Entry(
            .deviceBusy, "deviceBusy", "the device is still handling an earlier request",
            remedy: "wait and try again"),
        Entry(
            .pathInvalid, "pathInvalid", "the path names nothing that can be used this way",
            remedy: "list the device's model with `iotctl property read ID`"),
        Entry(
            .valueInvalid, "valueInvalid", "the value is not JSON, or does not fit the device's schema",
            remedy: "compare it with the property's type and range"),
        Entry(
            .actionFailed, "actionFailed", "the device could not carry out the action",
            remedy: "read the device's message and its log"),
        Entry(
            .actionNotSupported, "actionNotSupported", "the device has no handler for this action",
            remedy: "choose another action, or update the device"),
        Entry(
            .builtInNotWritable, "builtInNotWritable", "this built-in property cannot be written from here",
            remedy: "write it when the hub is reachable"),
        Entry(
            .hangUpCodeInvalid, "hangUpCodeInvalid", "the hang-up code is out of range", remedy: "use 20151–20199",
            whyUnused: "callers have no codes of their own: a call ends with a number of this catalogue"),
        Entry(
            .operationTimeout, "operationTimeout", "the device waited too long for the next request",
            remedy: "start again"),
        Entry(
            .recordNotFound, "recordNotFound", "there is no such recording", remedy: "list the recordings first",
            whyUnused: "a recording that is missing is 21064"),
        Entry(
            .recordUnreadable, "recordUnreadable", "the recording cannot be read",
            remedy: "check the recorder's disk",
            whyUnused:
                "a playback skips what cannot be read and tells the reason; a download that cannot be opened is 21063"),
        Entry(
            .userCommandInternal, "userCommandInternal", "the device failed inside a user command",
            remedy: "read the device's log"),
        Entry(
            .userCommandType, "userCommandType", "the device does not know this type of user command",
            remedy: "check both versions"),
        Entry(
            .userCommandVersion, "userCommandVersion", "the device does not know this version of the user command",
            remedy: "check both versions",
            whyUnused: "messages to devices have no version: their content is the program's own"),
        Entry(
            .userCommandParameter, "userCommandParameter", "a parameter of the user command is wrong",
            remedy: "correct the parameter"),
        Entry(
            .stateMismatch, "stateMismatch", "this cannot be done in the present state",
            remedy: "look at the state first"),
    ]
}
