import IoTCore
import IoTLink
import Synchronization
import ThingModel

/// What a gateway knows for times without its hub: its account's devices on the local network, and its grants for them.
struct LANBook: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var device: DeviceID
        var name: String
        var role: BindingRole?
        var actions: BindingActions
        var place: LANPlace
        var grant: String
        /// Of the grant: s since 1970.
        var expires: Int64

        /// As the hub would describe it.
        var summary: DeviceSummary {
            var summary = DeviceSummary(
                id: device, name: name, role: role, actions: actions.list, owner: nil, isOnline: true,
                presenceSince: nil, source: nil)
            summary.isLocal = true
            return summary
        }
    }

    /// More are not kept.
    static let limit = 1_024

    private(set) var entries: [DeviceID: Entry] = [:]

    init(_ entries: [Entry] = []) {
        for entry in entries.prefix(Self.limit) { self.entries[entry.device] = entry }
    }

    /// - Parameter text: an id or a name.
    subscript(text: String) -> Entry? {
        if let device = DeviceID(rawValue: text) { return entries[device] }
        return entries.values.first { $0.name == text }
    }

    subscript(device: DeviceID) -> Entry? { entries[device] }

    /// As the hub lists them. Whether they are reached is not known before the first request.
    var summaries: [DeviceSummary] {
        entries.values.map(\.summary).sorted { $0.name < $1.name }
    }

    // MARK: The file

    var json: JSONValue {
        .array(
            entries.values.sorted { $0.device.rawValue < $1.device.rawValue }.map { entry in
                [
                    "device": .string(entry.device.rawValue), "name": .string(entry.name),
                    "role": .string(entry.role?.rawValue ?? ""), "actions": entry.actions.json,
                    "place": entry.place.value, "grant": .string(entry.grant), "expires": .integer(entry.expires),
                ]
            })
    }

    /// Entries that cannot be read are left out: the hub says them again.
    init(json: JSONValue) {
        self.init(
            (json.arrayValue ?? []).compactMap { line in
                guard let device = line["device"]?.stringValue.flatMap({ DeviceID(rawValue: $0) }),
                    let name = line["name"]?.stringValue, let place = line["place"].flatMap({ LANPlace($0) }),
                    let actions = line["actions"].flatMap({ BindingActions(json: $0) }),
                    let grant = line["grant"]?.stringValue, let expires = line["expires"]?.integerValue
                else { return nil }
                return Entry(
                    device: device, name: name, role: line["role"]?.stringValue.flatMap { BindingRole(rawValue: $0) },
                    actions: actions, place: place, grant: grant, expires: expires)
            })
    }
}

/// The newest book, for all tasks.
final class SharedBook: Sendable {
    private let book: Mutex<LANBook>

    init(_ book: LANBook) {
        self.book = Mutex(book)
    }

    var value: LANBook { book.withLock { $0 } }

    /// - Returns: whether it differs from the one before.
    func replace(with new: LANBook) -> Bool {
        book.withLock { book in
            defer { book = new }
            return book != new
        }
    }
}
