import IoTCore

/// Reports of when a device was recorded. The hub stores the newest report of each device, and answers with it also while
/// the device is offline (`docs/playback.md`, "While the box is offline").
public enum RecordingMethod {
    /// From a device to the hub. A new report replaces the earlier one.
    public static let report = LinkMethod<RecordingReport, LinkNothing>("recording.report", device: .device)
    /// From a user to the hub.
    public static let summary = LinkMethod<DeviceReference, RecordingSummary>(
        "recording.summary", user: .action(.playback))
}
