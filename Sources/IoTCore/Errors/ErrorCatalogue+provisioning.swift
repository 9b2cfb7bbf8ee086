extension ErrorCatalogue {
    /// Provisioning (21100–21103): the SDK's public headers.
    static let provisioning: [Entry] = [
        Entry(
            .provisioningTokenFailed, "provisioningTokenFailed", "no provisioning token could be had",
            remedy: "check the link with `iotctl status`"),
        Entry(
            .provisioningTokenExpired, "provisioningTokenExpired", "the provisioning token expired",
            remedy: "make a new one"),
        Entry(.notBindable, "notBindable", "the device cannot be bound", remedy: "reset it"),
        Entry(
            .provisioningServer, "provisioningServer", "the hub failed while provisioning",
            remedy: "read the hub's log"),
    ]
}
