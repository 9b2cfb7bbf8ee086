import Firmware
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing
import ThingModel

@testable import LinkHub

/// What the hub requires of any store. `StoreEventConformanceTests` covers events.
@Suite("Any store of the hub", .timeLimit(.minutes(1)))
struct StoreConformanceTests {
    private let owner = AccessID(rawValue: "owner")!
    private let guest = AccessID(rawValue: "guest")!
    private let front = DeviceID.random()
    private let back = DeviceID.random()

    private func user(_ id: AccessID) -> StoreChange { .putUser(id, UserRecord(kind: .member, created: 1)) }

    private func device(_ id: DeviceID, _ name: String) -> StoreChange { .putDevice(id, DeviceRecord(name: name)) }

    private func model(_ device: DeviceID, version: Int64 = 1) throws -> StoreChange {
        .putModel(device, schema: try ThingSchema.sample().vendorForm.jsonText, version: version)
    }

    private func answer(_ number: Int64, _ id: String, _ reply: [UInt8], of actor: Principal? = nil) -> StoreChange {
        .answer(
            number: number, AnswerIndex.Key(principal: .user(owner), id: id), RequestContent(digest: -number),
            of: actor ?? .user(owner), at: 5, reply: reply)
    }

    private func written(_ version: Int64) -> PropertyChange {
        PropertyChange(path: "ProUser.mine", value: ["t": 1, "val": .integer(version)], version: version)
    }

    // MARK: Durability

    @Test(
        "Every kind of record is as it was stored, also in a second store that is opened at the same time",
        arguments: StoreKind.all)
    func everyRecord(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        let store = try kind.open(directory)
        let temporary = UserRecord(kind: .temporary, device: front, expires: 9, created: 3)
        let record = DeviceRecord(
            name: "front", camera: "porch", presenceSince: 7, sharesEnded: 8,
            provisioning: .init(token: "enrol-2", isAnnounced: true), owners: 5)
        let binding = Binding(role: .guest, actions: [.view, .talk], since: 4)
        let credential = BrokerCredential.make(tokenID: "t1", principal: .user(owner), token: "secret")
        let scope = TokenRecord.Scope(devices: [front], actions: [.view])
        let tokens = [
            TokenRecord(
                id: "t1", kind: .link, name: "ü", principal: .user(owner), credential: credential, issued: 1,
                expires: 2, isLocal: true),
            TokenRecord(
                id: "t2", kind: .api, principal: .user(owner), issued: 1, expires: .max, isLocal: false, scope: scope,
                parent: "t1", lastUse: 3),
        ]
        let key = KeyRecord(
            id: "k", name: "tv", principal: .user(owner), scope: scope, digest: KeyDigest(.random()), issued: 1,
            expires: 2, parent: "t2")
        let enrolment = EnrolmentRecord(
            credential: .make(
                tokenID: "enrol-1", principal: Principal(kind: .enrolment, id: "enrol-1")!, token: "secret"),
            creator: .user(owner), user: guest, devices: [front, back], names: [front: "a", back: "b"], issued: 1,
            expires: 2, parent: "t2", provisioning: .newcomer)
        let release = try Self.release("0123456789abcdef0123456789abcdef")
        var complete = release
        complete.isComplete = true
        let registration = Registration(session: "s2", superseded: ["s0", "s1"])
        let call = OpenCall(
            key: OpenCall.Key(device: front, session: "c"), user: owner,
            asker: .random(.user(owner)), needs: [.view, .talk], opened: 6, ending: [.device])
        let property = StoredProperty(
            path: "ProWritable.quality", value: ["setVal": 7, "t": 1], version: 4, appliedVersion: 3)
        try await store.commit([
            [user(owner), .putUser(guest, temporary), .putDevice(front, record), device(back, "back")],
            [.bind(guest, front, binding), try model(front, version: 9), .putProperty(front, property)],
            tokens.map { .addToken($0) } + [.addKey(key), .putEnrolment(enrolment)],
            [.putRegistration(.device(front), registration), .putCall(call), .use(.key("k"), at: 66)],
            [answer(1, "r", [0, 255, 7]), .putRelease(release), .putRecordings(front, Self.recordings(5))],
            [.putRecordings(front, Self.recordings(9))],
            [.putRelease(complete), .putRelease(try Self.release("other")), .removeRelease("other")],
        ])

        let again = try kind.open(directory)
        let state = try await again.load()
        #expect(state.users == [owner: UserRecord(kind: .member, created: 1), guest: temporary])
        #expect(state.devices == [front: record, back: DeviceRecord(name: "back")])
        #expect(state.names == ["front": front, "back": back] && state.cameras == ["porch": front])
        #expect(state.bindings[front, guest] == binding)
        #expect(tokens.allSatisfy { state.tokens[$0.id] == $0 })
        #expect(state.keys["k"]?.lastUse == 66 && state.keys["k"]?.digest == key.digest)
        #expect(state.enrolments == ["enrol-1": enrolment])
        #expect(state.registrations == [.device(front): registration])
        #expect(state.calls.of(front) == [call])
        #expect(state.releases == [complete.id: complete])
        #expect(state.recordings == [front: Self.recordings(9)])
        #expect(state.models[front]?.version == 9)
        #expect(state.models[front]?.storedProperties.contains(property) == true)
        let place = state.answers[AnswerIndex.Key(principal: .user(owner), id: "r")]
        #expect(place == AnswerIndex.Place(number: 1, content: RequestContent(digest: -1)))
        #expect(try await again.answer(1) == [0, 255, 7])
        store.close()
        again.close()
    }

    private static func recordings(_ end: Int64) -> RecordingRecord {
        RecordingRecord(
            ownership: 2,
            summary: RecordingSummary(t: 6, isRecorded: true, days: 14, precision: 1, times: [1..<2, 4..<end]))
    }

    private static func release(_ id: String) throws -> ReleaseRecord {
        let manifest = #"{"type":"iotvideod firmware 1","model":"box","version":"0.1.0","size":1,"sha256":"HASH"}"#
            .replacing("HASH", with: String(repeating: "0", count: 64))
        return try ReleaseRecord(
            id: id,
            signed: SignedManifest(bytes: Array(manifest.utf8), signature: Array(repeating: 255, count: 64)), added: 5)
    }

    @Test("Removed records are gone, and a device is removed with its own records", arguments: StoreKind.all)
    func removal(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        let store = try kind.open(directory)
        let binding = Binding(role: .owner, actions: .all, since: 1)
        try await store.commit([
            [
                user(owner), user(guest), device(front, "front"), device(back, "back"), try model(front),
                try model(back),
            ],
            [.writeProperty(front, written(2)), .writeProperty(back, written(2))],
            [.putRecordings(front, Self.recordings(9)), .putRecordings(back, Self.recordings(8))],
            [
                .bind(owner, front, binding), .bind(owner, back, binding),
                .bind(guest, back, Binding(role: .guest, actions: .view, since: 1)),
            ],
            [.addEvent(EventRecord(number: 1, device: front, topic: "a", t: 1, body: "1"))],
        ])
        try await store.commit([
            [.removeDevice(front)], [.removeUser(guest)], [.removeProperty(back, path: "ProUser.mine")],
        ])
        let state = try await store.load()
        #expect(state.users.keys.map(\.rawValue) == ["owner"] && state.devices.keys.map(\.rawValue) == [back.rawValue])
        #expect(state.bindings.devices(of: owner) == [back] && state.bindings.devices(of: guest).isEmpty)
        #expect(state.models[front] == nil && state.events.total == 0)
        #expect(state.recordings == [back: Self.recordings(8)])
        #expect(state.models[back]?.storedProperties.contains { $0.path == "ProUser.mine" } == false)
        store.close()
    }

    // MARK: Batches

    @Test("Changes take effect in order, within a turn and from turn to turn", arguments: StoreKind.all)
    func order(kind: StoreKind) async throws {
        let store = try kind.open(TemporaryDirectory())
        try await store.commit([[user(owner), device(front, "a"), device(back, "b"), try model(front)]])
        try await store.commit([
            // Names are unique at every moment.
            [device(front, "x"), device(back, "a")], [device(front, "b")],
            [.writeProperty(front, written(2)), .removeProperty(front, path: "ProUser.mine")],
            [.writeProperty(front, written(3)), .modelVersion(front, 2)], [.modelVersion(front, 3)],
            [.bind(owner, front, Binding(role: .owner, actions: .all, since: 1)), .unbind(owner, front)],
        ])
        let state = try await store.load()
        #expect(state.names == ["a": back, "b": front])
        #expect(try state.models[front]?.read("ProUser.mine.val").value == 3)
        #expect(state.models[front]?.version == 3)
        #expect(state.bindings.devices(of: owner).isEmpty)
        store.close()
    }

    @Test(
        "A turn that cannot be stored prevents its batch from being stored, is the cause, and leaves nothing",
        arguments: StoreKind.all, [0, 1, 2])
    func badTurn(kind: StoreKind, place: Int) async throws {
        let directory = TemporaryDirectory()
        let store = try kind.open(directory)
        try await store.commit([[device(front, "front")]])
        let good: [[StoreChange]] = [[user(owner), answer(1, "a", [1])], [user(guest), answer(2, "b", [2])]]
        for bad: [StoreChange] in [
            [answer(3, "c", [3]), device(back, "front")],
            [device(back, "back"), .addEvent(EventRecord(number: 1, device: .random(), topic: "a", t: 1, body: "1"))],
            [device(back, "back"), device(.random(), "a\u{0}b")],
        ] {
            var batch = good
            batch.insert(bad, at: place)
            let failure = await #expect(throws: CommitFailure.self) { try await store.commit(batch) }
            #expect(failure?.isOfStore == false)
            #expect(failure?.error.code == .storeFailed)
            let state = try await store.load()
            #expect(
                state.users.isEmpty && state.devices.count == 1 && state.answers.count == 0 && state.events.total == 0)
            for number: Int64 in 1...3 { #expect(try await store.answer(number) == nil) }
        }
        try await store.commit(good)
        store.close()
        let again = try kind.open(directory)
        #expect(try await again.load().users.count == 2)
        #expect(try await again.answer(2) == [2])
        again.close()
    }

    @Test(
        "A store that another program has locked reports a failure of the store, and works again when unlocked",
        arguments: StoreKind.all)
    func locked(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        let store = try kind.open(directory)
        // Without this, the commit would wait.
        store.waitNoLonger()
        let unlock = try kind.lock(directory.path)
        let failure = await #expect(throws: CommitFailure.self) { try await store.commit([[user(owner)]]) }
        #expect(failure?.isOfStore == true)
        #expect(failure?.error.remedy.isEmpty == false)
        #expect(try await store.load().users.isEmpty)
        unlock()
        try await store.commit([[user(owner)]])
        #expect(try await store.load().users.count == 1)
        store.close()
    }

    @Test("512 turns are one batch", arguments: StoreKind.all)
    func large(kind: StoreKind) async throws {
        let store = try kind.open(TemporaryDirectory())
        try await store.commit([[device(front, "front"), try model(front)]])
        try await store.commit(
            (2...513).map { version in
                [
                    .writeProperty(front, written(version)), .modelVersion(front, version),
                    answer(version, "r\(version)", Array("\(version)".utf8)),
                ]
            })
        let state = try await store.load()
        #expect(state.models[front]?.version == 513 && state.answers.count == 512)
        #expect(try await store.answer(513) == Array("513".utf8))
        store.close()
    }

    // MARK: Answers

    @Test("An answer is stored with its request's content, and forgotten by number", arguments: StoreKind.all)
    func answers(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        var store = try kind.open(directory)
        try await store.commit([
            (1...9).map { answer($0, "r\($0)", [UInt8($0)], of: $0 > 6 ? .user(guest) : nil) }
        ])
        await #expect(throws: CommitFailure.self) { try await store.commit([[answer(9, "other", [0])]]) }
        try await store.commit([[.forgetAnswers([2...3, 5...5])]])
        for _ in 0..<2 {
            for number: Int64 in 1...9 {
                let isKept = ![2, 3, 5].contains(number)
                #expect(try await store.answer(number) == (isKept ? [UInt8(number)] : nil))
            }
            let answers = try await store.load().answers
            #expect(answers.count == 6 && answers.nextNumber == 10)
            store.close()
            store = try kind.open(directory)
        }
        store.close()
    }

    // MARK: Versions

    @Test("A device's applied version only grows, and a write does not change it", arguments: StoreKind.all)
    func versions(kind: StoreKind) async throws {
        let store = try kind.open(TemporaryDirectory())
        let path = "ProWritable.quality"
        func write(_ version: Int64) -> StoreChange {
            .writeProperty(
                front,
                PropertyChange(path: path, value: ["setVal": .integer(version), "t": 1], version: version))
        }
        func stored() async throws -> StoredProperty? {
            try await store.load().models[front]?.storedProperties.first { $0.path == path }
        }
        try await store.commit([
            [device(front, "front"), try model(front), write(4), write(5), .modelVersion(front, 5)]
        ])
        try await store.commit([[.applied(front, path: path, version: 5)], [.applied(front, path: path, version: 4)]])
        #expect(try await stored()?.appliedVersion == 5)
        // A version that does not exist yet.
        try await store.commit([[.applied(front, path: path, version: 6)], [write(7), .modelVersion(front, 7)]])
        let property = try #require(try await stored())
        #expect(property.appliedVersion == 5 && property.version == 7 && property.value["setVal"] == 7)
        store.close()
    }

    // MARK: Damage

    @Test(
        "A row that cannot be read is set aside once and reported, with its dependent rows; all others are there",
        arguments: StoreKind.all)
    func unreadable(kind: StoreKind) async throws {
        let directory = TemporaryDirectory()
        var store = try kind.open(directory)
        let binding = Binding(role: .guest, actions: .view, since: 1)
        try await store.commit([
            [
                user(owner), user(guest), device(front, "front"), .bind(guest, front, binding),
                .bind(owner, front, binding),
            ]
        ])
        store.close()
        try kind.damage(directory.path, guest)
        let reported = NIOLockedValueBox<[String]>([])
        for _ in 0..<2 {
            store = try kind.open(directory.path) { row in reported.withLockedValue { $0.append(row) } }
            let state = try await store.load()
            #expect(state.users.keys.map(\.rawValue) == ["owner"])
            #expect(state.bindings.users(of: front) == [owner: binding])
            #expect(await store.findDamage() == [])
            store.close()
        }
        #expect(reported.withLockedValue { $0.count { $0.contains("users") && $0.contains("guest") } } == 1)
        #expect(!store.damageRemedy.isEmpty)
        // The name can be used again.
        store = try kind.open(directory)
        try await store.commit([[user(guest), .bind(guest, front, binding)]])
        #expect(try await store.load().bindings[front, guest] == binding)
        store.close()
    }
}
