import IoTCore
import IoTLink

@testable import ThingModel

/// A device's process with its link session: it logs in, accepts settings and actions, and echoes messages.
struct VirtualDevice {
    private struct Request {
        let method: String
        let params: JSONValue
    }

    private var model: DeviceModelState
    private var waiting: [Request] = []
    /// The request that has no answer yet, and its id.
    private var asked: (id: String, request: Request)?
    private var count = 0
    private let life: Int
    /// How often each action was carried out in this life, by its value.
    private(set) var actions: [Int64: Int] = [:]

    static let settings = ["volume", "tone"]

    static func schema() throws -> ThingSchema {
        try ThingSchema(
            [.readonly("temperature", .int32, "of the air"), .action("ring", .int32, "rings a bell")]
                + settings.map { .writable($0, .int32, "of the bell") })
    }

    /// - Parameter life: The number of the device's process.
    init(life: Int) throws {
        self.life = life
        model = DeviceModelState(schema: try Self.schema())
        _ = try model.report("ProReadonly.temperature.stVal", 20, at: 1)
    }

    mutating func setOnline(_ isOnline: Bool) { model.setOnline(isOnline) }

    /// The next request to the hub, if any.
    mutating func nextRequest() -> (id: String, method: String, params: JSONValue)? {
        guard asked == nil else { return nil }
        if waiting.isEmpty { waiting = nextRequests() }
        guard !waiting.isEmpty else { return nil }
        count += 1
        let id = "device.\(life).\(count)"
        let request = waiting.removeFirst()
        asked = (id, request)
        return (id, request.method, request.params)
    }

    private mutating func nextRequests() -> [Request] {
        switch model.nextStep() {
        case .login(let login): return [Request(method: ModelMethod.login.name, params: login.json)]
        case .report(let changes):
            let list = changes.map { JSONValue.object(["path": .string($0.path), "value": $0.value]) }
            return [Request(method: ModelMethod.report.name, params: ["changes": .array(list)])]
        case .acknowledge(let versions):
            return versions.sorted { $0.key < $1.key }.map { path, version in
                Request(
                    method: ModelMethod.applied.name, params: ["path": .string(path), "version": .integer(version)])
            }
        case .tellWrite(_, let write): return [Request(method: LANMethod.written.name, params: write.json)]
        case .nothing: return []
        }
    }

    /// - Returns: False if it failed: everything is sent again after a pause.
    mutating func answered(_ id: String, _ outcome: Result<JSONValue, IoTError>) -> Bool {
        guard let asked, asked.id == id else { return true }
        self.asked = nil
        guard case .success(let result) = outcome else {
            waiting = []
            model.startOver()
            return false
        }
        guard asked.request.method == ModelMethod.login.name else { return true }
        for (name, delivery) in LoginDeliveries(
            LinkMembers(result, of: asked.request.method, failure: .modelReceiveFailed)
        ).writable { try? model.carriedOut(name, delivery) }
        return true
    }

    mutating func handle(_ request: LinkRequest) -> Result<JSONValue, IoTError> {
        switch request.method {
        case ModelMethod.deliver.name:
            guard let path = request.params["path"]?.stringValue, let value = request.params["value"],
                let version = request.params["version"]?.integerValue,
                let name = try? model.document.writableName(path)
            else { return .failure(IoTError(.invalidRequest)) }
            if version > model.document.appliedVersions[path] ?? 0 {
                try? model.carriedOut(name, Delivery(value: value, version: version))
            }
            return .success([:])
        case ModelMethod.takeAction.name:
            guard let value = request.params["value"]?.integerValue else {
                return .failure(IoTError(.invalidRequest))
            }
            actions[value, default: 0] += 1
            return .success(["value": .integer(value)])
        case MessageMethod.receive.name: return .success(["data": request.params["data"] ?? .null])
        default: return .failure(IoTError(.invalidRequest))
        }
    }

    /// The value of a setting that the device has applied.
    func setting(_ name: String) -> JSONValue? {
        try? model.document.read("ProWritable.\(name).setVal").value
    }
}
