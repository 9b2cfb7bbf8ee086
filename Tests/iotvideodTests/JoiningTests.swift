import IoTCore
import Logging
import NetConfig
import Testing

@testable import IoTLink
@testable import iotvideod

/// What a box stores when it joins a hub, with scripted grants of that hub.
@Suite struct JoiningTests {
    private static let hub = "iotlink+unix:///run/hub"

    /// The hub's grants, by the id of the string.
    private static let grants: [String: EnrolmentTokens] = [
        "yard": .init(user: nil, devices: [device(1, "yard")], hubName: nil),
        "back": .init(user: nil, devices: [device(2, "back")], hubName: nil),
        "back-again": .init(user: nil, devices: [device(2, "back")], hubName: nil),
        "front": .init(user: nil, devices: [device(3, "front")], hubName: nil),
        "front-again": .init(user: nil, devices: [device(3, "front", "token-new")], hubName: nil),
        "both": .init(user: nil, devices: [device(1, "yard"), device(2, "back")], hubName: nil),
        "account": .init(
            user: .init(accessID: AccessID(rawValue: "gate")!, token: "token-user", expires: 1), devices: [],
            hubName: nil),
    ]

    private static func device(_ number: Int, _ name: String, _ token: String? = nil) -> EnrolmentTokens.Device {
        .init(device: id(number), name: name, token: token ?? "token-\(name)", expires: 1)
    }

    private static func id(_ number: Int) -> DeviceID { DeviceID(rawValue: String(repeating: "\(number)", count: 32))! }

    private func joining(_ directory: String) -> Joining {
        Joining(dataDirectory: directory) { string, _, _ throws(IoTError) in
            guard let tokens = Self.grants[string.id] else { throw IoTError(.provisioningTokenExpired) }
            return EnrolmentGrant(tokens, place: string.place, authority: nil)
        }
    }

    private func string(_ id: String) throws -> EnrolmentString {
        try EnrolmentString(parsing: "\(Self.hub)?enrol=\(id).secret")
    }

    private func onboarding(_ joining: Joining, _ camera: String = "yard") -> Onboarding {
        Onboarding(joining: joining, camera: camera, applier: DryRunApplier(), logger: Logger(label: "test"))
    }

    private func token(of camera: String, _ box: JoinedBox?) throws -> String {
        try SecretFile.read(try #require(box?.devices[camera]).tokenFile)
    }

    @Test("The only camera becomes the device of any name; later devices do not replace it")
    func another() async throws {
        try await withTemporaryDirectory { directory in
            let joining = joining(directory)
            let first = try await joining.join(with: try string("front"), cameras: ["yard"])
            #expect(first.devices.mapValues(\.id) == ["yard": Self.id(3)])
            let both = try await joining.join(with: try string("back"), cameras: ["yard"])
            #expect(both.devices.mapValues(\.id) == ["yard": Self.id(3), "back": Self.id(2)])
            #expect(try token(of: "yard", both) == "token-front")
            #expect(try token(of: "back", both) == "token-back")
        }
    }

    @Test("A device that enrols again keeps its name on this box")
    func again() async throws {
        try await withTemporaryDirectory { directory in
            let joining = joining(directory)
            _ = try await joining.join(with: try string("front"), cameras: ["yard"])
            let again = try await joining.join(with: try string("front-again"), cameras: ["yard"])
            #expect(again.devices.mapValues(\.id) == ["yard": Self.id(3)])
            #expect(try token(of: "yard", again) == "token-new")
        }
    }

    @Test("A device that has joined as another camera does not become the only configured one")
    func renamed() async throws {
        try await withTemporaryDirectory { directory in
            let joining = joining(directory)
            _ = try await joining.join(with: try string("back"), cameras: ["back"])
            // The configuration has another camera now.
            let box = try await joining.join(with: try string("back-again"), cameras: ["yard"])
            #expect(box.devices.mapValues(\.id) == ["back": Self.id(2)])
        }
    }

    @Test(
        "A string for an account or for several devices stores nothing, and the next one works",
        arguments: ["account", "both"])
    func wrongKind(id: String) async throws {
        try await withTemporaryDirectory { directory in
            let onboarding = onboarding(joining(directory))
            let (wrong, right) = (try string(id).text, try string("front").text)
            let error = await #expect(throws: IoTError.self) { try await onboarding.bind(hub: "", token: wrong) }
            #expect(error?.code == .notBindable)
            #expect(try JoinedBox.load(dataDirectory: directory) == nil)
            #expect(try await onboarding.bind(hub: "", token: right) == Self.id(3))
            #expect(try JoinedBox.load(dataDirectory: directory)?.devices.keys.sorted() == ["yard"])
        }
    }

    @Test("A token for another camera of the box stores nothing")
    func otherCamera() async throws {
        try await withTemporaryDirectory { directory in
            let joining = joining(directory)
            let before = try await joining.join(with: try string("back"), cameras: ["back"])
            let error = await #expect(throws: IoTError.self) {
                try await onboarding(joining).bind(hub: "", token: try string("back").text)
            }
            #expect(error?.code == .notBindable)
            #expect(try JoinedBox.load(dataDirectory: directory) == before)
        }
    }

    @Test("When one way ends, the attempt of another one is not interrupted, and no other attempt begins")
    func ends() async throws {
        try await withTemporaryDirectory { directory in
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            let slow = Joining(dataDirectory: directory) { string, _, _ throws(IoTError) in
                beginning.yield()
                // A cancelled attempt loses its token.
                for _ in 0..<10_000 {
                    await Task.yield()
                    if Task.isCancelled { throw IoTError(.stopping) }
                }
                return EnrolmentGrant(Self.grants["front"]!, place: string.place, authority: nil)
            }
            let onboarding = onboarding(slow)
            let text = try string("front").text
            let end = try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    _ = try? await onboarding.bind(hub: "", token: text)
                    return nil
                }
                group.addTask {
                    for await _ in begun { return .connected }
                    return nil
                }
                return try await BoxProvisioning.firstEnd(of: &group, onboarding)
            }
            #expect(end == .connected)
            #expect(try JoinedBox.load(dataDirectory: directory)?.devices.keys.sorted() == ["yard"])
            await #expect(throws: IoTError.self) { try await onboarding.bind(hub: "", token: text) }
        }
    }

    @Test("A way whose time has ended waits for an attempt of another way")
    func timedOut() async throws {
        let onboarding = onboarding(joining("/nonexistent"))
        let end = try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
            let (ended, ending) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                ending.finish()
                return .timedOut
            }
            group.addTask {
                for await _ in ended {}
                for _ in 0..<1000 { await Task.yield() }
                return .bound
            }
            return try await BoxProvisioning.firstEnd(of: &group, onboarding)
        }
        #expect(end == .bound)
    }
}
