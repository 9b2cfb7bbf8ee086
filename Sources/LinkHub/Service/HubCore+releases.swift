import Firmware
import IoTCore
import IoTLink
import ThingModel

/// Releases of firmware.
extension HubCore {
    // MARK: Requests

    /// Adds a release without its file. The same release again is not another one.
    mutating func addRelease(_ call: HubCall<ReleaseCreation>) throws(IoTError) -> ReleaseDescription {
        let signed = SignedManifest(
            bytes: Array(call.parameters.manifest.utf8), signature: call.parameters.signature)
        if let known = state.releases.values.first(where: { $0.signed == signed }) { return known.detail }
        let record = try ReleaseRecord(id: Hex.random(byteCount: 16), signed: signed, added: call.time.seconds)
        let (model, version) = (record.manifest.model, record.manifest.version)
        let others = state.releases.values.map(\.manifest)
        guard !others.contains(where: { $0.model == model && $0.version == version }) else {
            throw IoTError(
                .nameTaken, "there is another release \(version) for '\(model)'",
                remedy: "remove it with `iotctl firmware release remove`, or choose another version")
        }
        guard others.count < limits.releases else {
            throw IoTError(.releaseSpaceUsed, "the hub has \(limits.releases) releases")
        }
        let used = others.reduce(0) { $0 + $1.size }
        guard record.manifest.size <= limits.releaseBytes - used else {
            throw IoTError(
                .releaseSpaceUsed,
                "the hub's releases have \(used) bytes; at most \(limits.releaseBytes) are allowed in all")
        }
        put(record)
        return record.detail
    }

    func listReleases(_ query: PageQuery) -> LinkPage<ReleaseDescription> {
        page(Array(state.releases.keys), query) { state.releases[$0]?.description }
    }

    /// - Throws: 25003 if there is none.
    func release(_ id: String) throws(IoTError) -> ReleaseRecord {
        guard let record = state.releases[id] else {
            throw IoTError(
                .notFound, "there is no release '\(id.prefix(64))'", remedy: "list them: `iotctl firmware release list`"
            )
        }
        return record
    }

    mutating func removeRelease(_ id: String) throws(IoTError) {
        let record = try release(id)
        state.releases[record.id] = nil
        turn.changes.append(.removeRelease(record.id))
    }

    /// From now on, the release is offered.
    mutating func completeRelease(_ id: String) throws(IoTError) {
        var record = try release(id)
        guard !record.isComplete else { return }
        record.isComplete = true
        put(record)
    }

    private mutating func put(_ record: ReleaseRecord) {
        state.releases[record.id] = record
        turn.changes.append(.putRelease(record))
    }

    // MARK: Devices

    /// The newest release for a device, from what the device last reported. The device need not be online.
    func queryFirmware(_ query: FirmwareQuery, _ device: DeviceID) throws(IoTError) -> FirmwareOffer {
        var target = firmwareTarget(of: device)
        if let text = query.currentVersion {
            guard let version = FirmwareVersion(text) else {
                throw IoTError(.valueInvalid, "'\(text.prefix(32))' is not a version like 1.2.3")
            }
            target.version = version
        }
        var offer = FirmwareOffer(model: target.model, currentVersion: target.version?.description)
        let complete = state.releases.values.filter(\.isComplete)
        guard let release = ReleaseChoice.newest(complete, for: target, manifest: \.manifest) else { return offer }
        let description = release.manifest.descriptions.text(for: query.language)
        offer.available = true
        offer.id = release.id
        offer.version = release.manifest.version.description
        offer.url = "/v1/firmware/releases/\(release.id)/file"
        offer.description = description?.text
        offer.language = description?.language
        offer.size = release.manifest.size
        return offer
    }

    /// What the device's stored model says. Devices without `ProConst.firmware` are known by their product.
    private func firmwareTarget(of device: DeviceID) -> FirmwareTarget {
        let model = state.models[device]
        func value(_ path: String) -> JSONValue? { (try? model?.read(path))?.value }
        if let firmware = value("ProConst.\(CameraProperty.firmware)"), let name = firmware["model"]?.stringValue,
            !name.isEmpty
        {
            return FirmwareTarget(
                model: name, version: firmware["version"]?.stringValue.flatMap { FirmwareVersion($0) })
        }
        let number = value("ProConst._versionInfo.swVer")?.integerValue.flatMap { UInt32(exactly: $0) } ?? 0
        return FirmwareTarget(
            model: value("ProConst._productInfo.productModel")?.stringValue ?? "",
            version: number == 0 ? nil : FirmwareVersion(number: number))
    }
}
