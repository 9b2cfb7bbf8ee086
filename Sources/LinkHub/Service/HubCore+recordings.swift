import IoTCore
import IoTLink

/// What the boxes of devices have recorded.
extension HubCore {
    /// `recording.report`: replaces the device's summary.
    ///
    /// - Throws: 8003 if the summary was made for another owner of the device.
    mutating func takeRecordings(_ report: RecordingReport, of device: DeviceID) throws(IoTError) {
        guard report.ownership == state.devices[device]?.owners else {
            throw IoTError(.relationInvalid, "the device has another owner now")
        }
        let record = RecordingRecord(ownership: report.ownership, summary: report.summary)
        guard state.recordings[device] != record else { return }
        state.recordings[device] = record
        turn.changes.append(.putRecordings(device, record))
    }

    /// `recording.summary`. What was recorded for an earlier owner is not shown.
    ///
    /// - Throws: 21039 if the device has reported nothing since it got its owner.
    func summary(of device: DeviceID) throws(IoTError) -> RecordingSummary {
        guard let record = state.recordings[device], record.ownership == state.devices[device]?.owners else {
            throw IoTError(
                .recorderUnavailable, "the device has not reported any recordings",
                remedy: "record it, with this version or a later one on its box")
        }
        return record.summary
    }
}
