extension ErrorCatalogue {
    /// Provisioning (21100–21103: the SDK's public headers; 25060–25068, 25070, 25071, 25080–25083: our own).
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
        Entry(
            .deviceUnproven, "deviceUnproven",
            "the description of the device's connection is not signed with the device's key, which this account knows",
            remedy: "update iotvideod on the camera's box, if it does not sign yet; otherwise somebody between you and "
                + "the camera changed the description, which only the hub can do: do not trust that hub with pictures"),
        Entry(
            .callerUnproven, "callerUnproven",
            "the camera takes calls only from certain gateways, which prove their keys",
            remedy: "add the fingerprint of your gateway (`iotctl status`) to the camera's key `callers`, on the "
                + "camera's box"),
        Entry(
            .deviceKeyChanged, "deviceKeyChanged", "the device's signing key is not the stored one",
            remedy: "find out why: a camera that was set up again has another key, and so has another camera in its "
                + "place; if you expected the change, run `iotctl device key DEVICE --forget`"),
        Entry(
            .lanPasswordWrong, "lanPasswordWrong", "the camera's LAN access password is wrong",
            remedy: "correct it; after each wrong password the camera waits longer"),
        Entry(
            .lanPasswordChangeFailed, "lanPasswordChangeFailed",
            "the camera could not store its new LAN access password; the old one is still valid",
            remedy: "check the free space and the permissions of the data directory on the camera's box"),
        Entry(
            .lanPasswordUnsupported, "lanPasswordUnsupported",
            "the device or its hub does not support LAN access passwords",
            remedy: "update the device's firmware and the hub"),
    ]
}
