extension ErrorCatalogue {
    /// Provisioning (21100–21103: the SDK's public headers; 25060–25068: our own).
    static let provisioning: [Entry] = [
        Entry(
            .provisioningTokenFailed, "provisioningTokenFailed",
            "the provisioning token is malformed or cannot be created",
            remedy: "check the token, and the link with `iotctl status`"),
        Entry(
            .provisioningTokenExpired, "provisioningTokenExpired", "the provisioning token expired",
            remedy: "make a new one"),
        Entry(.notBindable, "notBindable", "the device cannot be bound", remedy: "reset it"),
        Entry(
            .provisioningServer, "provisioningServer", "the hub failed while provisioning",
            remedy: "read the hub's log"),
        Entry(
            .provisioningUnreachable, "provisioningUnreachable", "no device in provisioning mode answers there",
            remedy: "join the camera's own network first, and check the address"),
        Entry(
            .provisioningSecurity, "provisioningSecurity", "the device and we have no security version in common",
            remedy: "give the secret that the device asks for, or update its firmware"),
        Entry(
            .provisioningProofWrong, "provisioningProofWrong", "the device's secret is wrong",
            remedy: "compare it with the device's label"),
        Entry(
            .provisioningRefused, "provisioningRefused", "the device refused a message of provisioning",
            remedy: "check that it is the right device, and update its firmware"),
        Entry(
            .provisioningVanished, "provisioningVanished", "the device stopped answering while it was provisioned",
            remedy: "reset it, go nearer and try again"),
        Entry(
            .provisioningTimeout, "provisioningTimeout", "the device did not join the network in time",
            remedy: "try again; go nearer to the access point"),
        Entry(
            .wifiPasswordWrong, "wifiPasswordWrong", "the Wi-Fi network refused the password",
            remedy: "correct the password and try again"),
        Entry(
            .wifiNetworkNotFound, "wifiNetworkNotFound", "the device does not hear the Wi-Fi network",
            remedy: "check the name, and that the network has a band that the device knows (most cameras: 2.4 GHz)"),
        Entry(
            .wifiFailed, "wifiFailed", "the device could not join the Wi-Fi network",
            remedy: "go nearer to the access point and try again"),
    ]
}
