public import IoTCore

/// Methods for releases of firmware; `docs/link.md`, "Accounts, devices and bindings".
public enum FirmwareMethod {
    public static let add = LinkMethod<ReleaseCreation, ReleaseDescription>(
        "firmware.add", user: .administrator, isDurable: true)
    public static let list = LinkMethod<PageQuery, LinkPage<ReleaseDescription>>("firmware.list", user: .administrator)
    public static let show = LinkMethod<ReleaseReference, ReleaseDescription>(
        "firmware.show", user: .account, device: .device)
    public static let remove = LinkMethod<ReleaseReference, LinkNothing>(
        "firmware.remove", user: .administrator, isDurable: true)
    public static let query = LinkMethod<FirmwareQuery, FirmwareOffer>(
        "firmware.query", user: .action([.view]), device: .device)
}
