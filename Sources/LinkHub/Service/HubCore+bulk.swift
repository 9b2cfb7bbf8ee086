import IoTCore
import IoTLink
import ThingModel

/// Many devices, or all of one device, in one answer.
extension HubCore {
    /// Bytes of readings that fit an answer.
    private static let readingsSize = 240_000

    /// `property.readMany`: one reading a device, each with its value or why there is none, as many as fit the answer:
    /// with `more` the rest is to be asked for.
    func readMany(_ parameters: LinkMembers, _ permit: HubPermit) throws(IoTError) -> JSONValue {
        let path = try PropertyPath(parsing: try parameters.text("path"))
        let after = try parameters.optionalText("after")
        let names =
            try parameters.optionalTexts("devices", atMost: ThingModelClient.devicesOfReading)
            ?? viewedDevices(of: permit, after: after).map(\.rawValue)
        var readings: [JSONValue] = []
        var room = Self.readingsSize
        for name in names {
            let reading = reading(name, path, permit)
            room -= reading.jsonText.utf8.count + 1
            // One alone always fits.
            guard room >= 0 || readings.isEmpty else { return ["readings": .array(readings), "more": true] }
            readings.append(reading)
        }
        return ["readings": .array(readings), "more": false]
    }

    private func reading(_ name: String, _ path: PropertyPath, _ permit: HubPermit) -> JSONValue {
        var reading: JSONValue = ["device": .string(name)]
        do throws(IoTError) {
            let device = try device(named: name, for: permit, .view)
            reading["device"] = .string(device.rawValue)
            reading["name"] = .string(state.devices[device]?.name ?? "")
            let found = try model(of: device).read(path)
            reading["value"] = found.value
            reading["version"] = .integer(found.version)
        } catch {
            reading["code"] = .integer(Int64(error.code.rawValue))
            reading["message"] = .string(String(error.message.prefix(512)))
            reading["remedy"] = error.specificRemedy.map { .string($0) }
        }
        return reading
    }

    /// `device.export`: the whole of a device, to be kept elsewhere; schema and model are null before its first login.
    func export(_ device: DeviceID) -> JSONValue {
        let model = state.models[device]
        let versions = (model?.storedProperties ?? []).map { ($0.path, JSONValue.integer($0.version)) }
        return [
            "id": .string(device.rawValue), "name": .string(state.devices[device]?.name ?? ""),
            "schema": model?.schema.vendorForm ?? .null, "model": model?.value ?? .null,
            "versions": .object(Dictionary(versions) { _, last in last }),
        ]
    }

    /// The devices that the caller may view, by name.
    /// - Parameter after: only those behind this name.
    func viewedDevices(of permit: HubPermit, after: String? = nil) -> [DeviceID] {
        guard let user = permit.actor.accessID else { return [] }
        return state.bindings.devices(of: user)
            .filter { state.bindings[$0, user]?.actions.contains(.view) == true }
            .map { (name: state.devices[$0]?.name ?? "", device: $0) }
            .filter { $0.name > after ?? "" }
            .sorted { $0.name < $1.name }
            .map(\.device)
    }
}
