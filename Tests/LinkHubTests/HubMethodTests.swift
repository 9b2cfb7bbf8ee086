import Foundation
import IoTCore
import IoTLink
import NIOCore
import Synchronization
import Testing
import ThingModel

@testable import LinkHub

@Suite("The table of link methods")
struct HubMethodTests {
    // MARK: A new feature: a row with its types, and a handler

    struct Knock: LinkValue, Equatable {
        var device: String
        var times: Int64

        init(device: String, times: Int64) {
            self.device = device
            self.times = times
        }

        init(_ members: LinkMembers) throws(IoTError) {
            device = try members.text("device")
            times = try members.integer("times")
        }

        var json: JSONValue { ["device": .string(device), "times": .integer(times)] }
    }

    struct Knocked: LinkValue, Equatable {
        var by: String
        var times: Int64

        init(by: String, times: Int64) {
            self.by = by
            self.times = times
        }

        init(_ members: LinkMembers) throws(IoTError) {
            by = try members.text("by")
            times = try members.integer("times")
        }

        var json: JSONValue { ["by": .string(by), "times": .integer(times)] }
    }

    static let knock = LinkMethod<Knock, Knocked>("door.knock", user: .action(.view), isDurable: true)

    static let knocking = HubMethod(knock) { core, call throws(IoTError) in
        let name = core.state.devices[try call.permit.target()]?.name ?? ""
        return Knocked(by: "\(call.permit.actor) at \(name)", times: call.parameters.times)
    }

    /// A hub in virtual time, as the link of one principal.
    final class CoreLink: LinkRequester {
        private let hub: Mutex<CoreFixture>
        private let address: @Sendable (CoreFixture) -> LinkAddress

        init(_ hub: CoreFixture, _ address: @escaping @Sendable (CoreFixture) -> LinkAddress) {
            self.hub = Mutex(hub)
            self.address = address
        }

        var stored: [StoreChange] { hub.withLock { $0.stored } }

        func request(
            _ method: String, _ params: JSONValue, timeout: Duration, id: String?
        ) async throws(IoTError) -> JSONValue {
            let reply = hub.withLock { hub in try? hub.request(address(hub), method, params, id: id) }
            guard let reply else { throw IoTError(.messageTimeout) }
            return try reply.outcome.get()
        }
    }

    @Test("A new method needs its row and its handler, and nothing else")
    func added() async throws {
        var hub = try CoreFixture(methods: HubMethods(HubMethods.list + [Self.knocking]))
        try hub.bringEverybodyOnline()
        let guest = CoreLink(hub) { $0.guest }
        let knocked = try await guest.request(Self.knock, Knock(device: "front", times: 3), id: "k")
        #expect(knocked == Knocked(by: "u/guest at front", times: 3))
        let isRemembered = guest.stored.contains { change in
            if case .answer = change { return true }
            return false
        }
        #expect(isRemembered)
        // The row's right, the errors of the types, and the rules for every request.
        func refusal(_ link: CoreLink, _ knock: Knock, id: String? = nil) async -> IoTError? {
            do throws(IoTError) {
                _ = try await link.request(Self.knock, knock, id: id)
                return nil
            } catch {
                return error
            }
        }
        let device = hub.front.rawValue
        let stranger = CoreLink(hub) { $0.stranger }
        #expect(await refusal(stranger, Knock(device: device, times: 1))?.code == .relationInvalid)
        #expect(await refusal(guest, Knock(device: device, times: 4), id: "k")?.code == .requestIDReused)
        let camera = CoreLink(hub) { $0.camera }
        #expect(await refusal(camera, Knock(device: device, times: 1))?.code == .invalidRequest)
        let wrong = try #require(throws: IoTError.self) {
            try hub.request(hub.guest, "door.knock", ["device": "front", "times": "x"])?.outcome.get()
        }
        #expect(wrong.message == "door.knock: 'times' must be a whole number")
        // Without the row and the handler the method does not exist.
        var other = try CoreFixture()
        try other.bringEverybodyOnline()
        let refused = await refusal(CoreLink(other) { $0.guest }, Knock(device: "front", times: 1))
        #expect(refused?.code == .invalidRequest)
    }

    // MARK: The list

    private static var root: String {
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    }

    @Test("Each name is in the list once, and some kind of principal may use it")
    func unique() {
        let rows = HubMethods.all.rows
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(rows.allSatisfy { !$0.rights.isEmpty })
    }

    @Test("A method that the hub forwards has a longest deadline; one that it answers itself has none")
    func deadlines() {
        let sentOn = HubMethods.all.rows.filter { $0.longestDeadline != nil }.map(\.name)
        #expect(
            Set(sentOn) == [
                "action.take", "message.send", "call.connect", "call.invite", "call.trickle", "call.control",
                "call.end", "device.lanPassword",
            ])
    }

    @Test("The document's table matches the list")
    func documented() throws {
        let path = Self.root + "/docs/link.md"
        let document = try String(contentsOfFile: path, encoding: .utf8)
        let head = "| method | user | device | enrolment | remembered | longest deadline |"
        let start = try #require(document.range(of: head + "\n"))
        let end = try #require(document.range(of: "\n\n", range: start.lowerBound..<document.endIndex))
        let table = ([head, "| --- | --- | --- | --- | --- | --- |"] + HubMethods.all.rows.map(Self.line))
            .joined(separator: "\n")
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] == "1" {
            let text = document.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: table)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            #expect(
                document[start.lowerBound..<end.lowerBound] == table,
                "write it: WRITE_DOCUMENTS=1 swift test --filter HubMethodTests")
        }
    }

    private static func line(_ row: LinkMethodRow) -> String {
        let rights = [Principal.Kind.user, .device, .enrolment].map { row.rights[$0]?.words ?? "–" }
        let deadline = row.longestDeadline.map { "\($0.components.seconds) s" } ?? "–"
        let cells = ["`\(row.name)`"] + rights + [row.isDurable ? "on the disk" : "in memory", deadline]
        return "| \(cells.joined(separator: " | ")) |"
    }

    /// A row as written in the sources: `LinkMethod<A, B>("a.b", …)`.
    private struct Declaration {
        var file: String
        var name: String
        var isAskedOfHub: Bool
    }

    @Test("Every row for the hub has a handler, and a method's name is written only in its row")
    func sources() throws {
        let row = try Regex(#"Link(?:Push)?Method<[^"\n]*>\(\s*"([A-Za-z]+\.[A-Za-z]+)"([^\n]*)"#)
        var declarations: [Declaration] = []
        var files: [(path: String, text: String)] = []
        let sources = try #require(FileManager.default.enumerator(atPath: Self.root + "/Sources"))
        for case let path as String in sources where path.hasSuffix(".swift") {
            let text = try String(contentsOfFile: Self.root + "/Sources/" + path, encoding: .utf8)
            files.append((path, text))
            for match in text.matches(of: row) {
                let name = String(try #require(match.output[1].substring))
                let rights = try #require(match.output[2].substring)
                let isAsked = ["user: ", "device: ", "enrolment: "].contains { rights.contains($0) }
                declarations.append(Declaration(file: path, name: name, isAskedOfHub: isAsked))
            }
        }
        let asked = declarations.filter(\.isAskedOfHub).map(\.name).sorted()
        #expect(asked == HubMethods.all.rows.map(\.name).sorted())
        #expect(Set(declarations.map(\.name)).count == declarations.count, "two rows have the same name")
        for declaration in declarations {
            let places = files.filter { $0.text.contains("\"\(declaration.name)\"") }.map(\.path)
            #expect(places == [declaration.file], "'\(declaration.name)' is written by hand; take its row")
        }
    }

    // MARK: Deadlines

    private static let action: JSONValue = ["device": "front", "path": "Action.cameraOn"]

    @Test("The time-out of an action or a message is respected up to ten minutes, and refused beyond")
    func timeouts() throws {
        let message: JSONValue = ["device": "front", "data": "aGk=", "responses": "one"]
        for (method, params) in [("action.take", Self.action), ("message.send", message)] {
            var hub = try CoreFixture()
            try hub.bringEverybodyOnline()
            let start = hub.time.wall
            var patient = params
            patient["timeoutMilliseconds"] = 600_000
            let sent = try hub.sendRequest(hub.owner, method, patient, deadline: start + 601_000)
            #expect(sent.first?.request?.deadline == start + 600_000, "\(method)")
            while hub.time.wall < start + 599_000 {
                hub.advance(.milliseconds(500))
                #expect(!hub.timeout().contains { $0.replyCode == .peerTimeout }, "\(method): too early")
                if (hub.time.wall - start) % 30_000 == 0 {
                    for address in [hub.owner, hub.camera] { _ = try hub.request(address, "session.heartbeat") }
                }
            }
            hub.advance(.seconds(2))
            #expect(hub.timeout().contains { $0.address == hub.owner && $0.replyCode == .peerTimeout }, "\(method)")

            var endless = params
            endless["timeoutMilliseconds"] = 600_001
            let refused = try hub.request(hub.owner, method, endless, deadline: .max)
            #expect(refused?.code == .invalidRequest, "\(method)")
            #expect(refused?.message.contains("600000") == true, "\(method): \(refused?.message ?? "")")
        }
    }

    @Test("Without a time-out a request waits until its deadline, which may be no later than the row allows")
    func requestDeadlines() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let now = hub.time.wall
        let sent = try hub.sendRequest(hub.owner, "action.take", Self.action, deadline: now + 600_000)
        #expect(sent.first?.request?.deadline == now + 600_000)
        let trickle: JSONValue = ["peer": .string("d/\(hub.front)"), "session": "s", "candidate": ""]
        let passed = try hub.sendRequest(hub.owner, "call.trickle", trickle, deadline: now + 60_000)
        #expect(passed.first?.request?.deadline == now + 60_000)
        for (method, params, deadline) in [
            ("action.take", Self.action, now + 600_001), ("call.trickle", trickle, now + 60_001),
            ("call.trickle", trickle, .max),
        ] {
            #expect(
                try hub.request(hub.owner, method, params, deadline: deadline)?.code == .invalidRequest, "\(method)")
        }
    }
}
