import GatewayAPI
import IoTCore
import NetConfig

struct CallerDiscovery: GatewayDiscovery {
    let session: CallerSession

    func search(_ request: DiscoveryRequest) async throws -> DiscoveryReport {
        let lan = try lan()
        let part = try session.take(.discoveries)
        let timeout = request.timeoutMilliseconds ?? DiscoveryRequest.defaultTimeout
        let interfaces = lan.interfaces().map(\.name)
        let table = await lan.search.run(for: .milliseconds(timeout))
        withExtendedLifetime(part) {}
        try Task.checkCancellation()
        let cameras = try await session.cameras.list()
        // Without a link `own` is empty; only this daemon's own cameras are then recognized.
        let own = (try? await session.gateway.rights.entries(of: session.caller.account)) ?? [:]
        let devices = table.devices.map { device in
            var found = FoundDevice(device)
            found.camera = cameras.first { $0.isAt(device) }?.name
            if found.camera != nil || device.deviceID.map({ own[$0] != nil }) == true { found.next = .none }
            return found
        }
        return DiscoveryReport(devices: devices, interfaces: interfaces)
    }

    func ask(_ request: ONVIFRequest) async throws -> ONVIFReport {
        let lan = try lan()
        // Counts as a camera test, because the gateway connects to any host that the caller names.
        let part = try session.take(.cameraTests)
        let login = request.username.map { ONVIFLogin(username: $0, password: request.password ?? "") }
        let description = try await lan.onvif.describe(
            request.url, login: login, trust: CameraTrust(checked: request.certificate))
        return withExtendedLifetime(part) { ONVIFReport(description) }
    }

    private func lan() throws(IoTError) -> LANAccess {
        guard let lan = session.gateway.lan else {
            throw IoTError(
                .notImplemented, "this gateway does not search networks",
                remedy: "search with the daemon of a machine on that network")
        }
        return lan
    }
}

extension CameraDescription {
    /// Whether the camera is the found device, or its source has one of the device's addresses.
    fileprivate func isAt(_ found: DiscoveredDevice) -> Bool {
        if let id = found.deviceID { return device == id }
        let hosts = Set(found.addresses.map(\.description))
        return ServiceAddress.host(of: url).map(hosts.contains) ?? false
    }
}

extension FoundDevice {
    fileprivate init(_ device: DiscoveredDevice) {
        let next: NextStep =
            switch device.nextStep {
            case .add: .add
            case .bind: .bind
            case .provision: .provision
            case .owned: .owned
            case .unknown: .unknown
            }
        self.init(
            name: device.name, manufacturer: device.manufacturer, model: device.model,
            serialNumber: device.serialNumber, macAddress: device.macAddress, version: device.version,
            deviceID: device.deviceID, productID: device.productID, hasOwner: device.hasOwner,
            keyFingerprint: device.keyFingerprint, addresses: device.addresses.map(\.description),
            port: device.port, serviceURLs: device.serviceURLs, identities: device.identities.sorted(),
            foundBy: device.foundBy.map(\.rawValue).sorted(), next: next,
            onvif: device.onvifURL)
    }
}

extension ONVIFReport {
    fileprivate init(_ description: ONVIFDescription) {
        self.init(
            manufacturer: description.manufacturer, model: description.model, version: description.version,
            serialNumber: description.serialNumber, main: Stream(description.main),
            sub: description.sub.map { Stream($0) })
    }
}

extension ONVIFReport.Stream {
    fileprivate init(_ stream: ONVIFDescription.Stream) {
        self.init(
            url: stream.url, name: stream.name, codec: stream.codec, width: stream.width, height: stream.height)
    }
}
