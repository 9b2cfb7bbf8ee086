import IoTCore

/// What the box of a device has recorded. The hub keeps it, so that it is known while the device is offline
/// (`docs/playback.md`, "While the box is offline").
public enum RecordingMethod {
    /// From a device to the hub. A new report replaces the earlier one.
    public static let report = LinkMethod<RecordingReport, LinkNothing>("recording.report", device: .device)
    /// From a user to the hub.
    public static let summary = LinkMethod<DeviceReference, RecordingSummary>(
        "recording.summary", user: .action(.playback))
}
