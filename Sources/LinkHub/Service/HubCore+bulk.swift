import IoTCore
import IoTLink
import ThingModel

/// Answers about many devices, or about everything of one device.
extension HubCore {
    /// Bytes of readings that fit into an answer.
    private static let readingsSize = 240_000

    /// `property.readMany`: one reading a device, each with its value or an error, as many as fit into the answer. If
    /// `more` is set, the client must ask for the rest.
    func readMany(_ query: ManyPropertyQuery, _ permit: HubPermit) throws(IoTError) -> DeviceReadings {
        let path = try PropertyPath(parsing: query.path)
        let names = query.devices ?? viewedDevices(of: permit, after: query.after).map(\.rawValue)
        var readings: [DeviceReading] = []
        var room = Self.readingsSize
        for name in names {
            let reading = reading(name, path, permit)
            room -= reading.json.jsonBytes.count + 1
            // A single reading always fits.
            guard room >= 0 || readings.isEmpty else { return DeviceReadings(readings, hasMore: true) }
            readings.append(reading)
        }
        return DeviceReadings(readings, hasMore: false)
    }

    private func reading(_ name: String, _ path: PropertyPath, _ permit: HubPermit) -> DeviceReading {
        var reading = DeviceReading(device: name)
        do throws(IoTError) {
            let device = try device(named: name, for: permit, .view)
            reading.device = device.rawValue
            reading.name = state.devices[device]?.name ?? ""
            reading.reading = try model(of: device).read(path)
        } catch {
            reading.error = DeviceReading.Failure(
                code: error.code, message: String(error.message.prefix(512)), remedy: error.specificRemedy)
        }
        return reading
    }

    /// `device.export`: all data of a device, to be kept elsewhere. Schema and model are null before its first login.
    func export(_ device: DeviceID) -> DeviceExport {
        let model = state.models[device]
        return DeviceExport(
            id: device.rawValue, name: state.devices[device]?.name ?? "", schema: model?.schema.vendorForm ?? .null,
            model: model?.value ?? .null,
            versions: Dictionary((model?.storedProperties ?? []).map { ($0.path, $0.version) }) { _, last in last })
    }

    /// The devices that the caller may view, by name.
    /// - Parameter after: Only names after this one.
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
