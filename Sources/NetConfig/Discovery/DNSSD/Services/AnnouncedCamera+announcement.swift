import IoTCore

extension AnnouncedCamera {
    var announcement: ServiceAnnouncement {
        ServiceAnnouncement(
            id: id, name: name, type: .iotlink, port: UInt16(clamping: port), address: address,
            text: ServiceText.strings([
                ("deviceID", deviceID), ("productID", productID), ("serialNumber", serialNumber),
                ("version", version), ("macAddr", macAddress), ("hasOwner", hasOwner ? "1" : "0"),
                ("keyFingerprint", keyFingerprint?.description),
            ]))
    }
}
