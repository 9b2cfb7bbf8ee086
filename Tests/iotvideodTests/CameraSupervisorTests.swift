import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import IoTLink
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import iotvideod

@Suite struct CameraSupervisorTests {
    /// Runs until it is stopped, and records what happens to it.
    struct FakeCamera: Service {
        let name: String
        let diary: Diary

        func run() async throws {
            diary.note("+" + name)
            try await gracefulShutdown()
            diary.note("-" + name)
        }
    }

    final class Diary: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// A supervisor with a configuration file, as in the daemon.
    struct Fixture {
        let directory: String
        let diary = Diary()
        let supervisor: CameraSupervisor<FakeCamera>
        let applied = Diary()

        init(_ directory: String, _ text: String) throws {
            self.directory = directory
            let file = directory + "/c.yaml"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let options = try DaemonOptions.parse(["--config", file, "--data-dir", directory])
            let read: @Sendable () throws(IoTError) -> Configuration = { () throws(IoTError) in
                try options.configuration(environment: [:], isRoot: true)
            }
            let (diary, applied) = (diary, applied)
            supervisor = CameraSupervisor(
                try read(),
                actions: .init(
                    read: read,
                    make: { camera in
                        if camera.name == "broken" || camera.url == "/unmakeable" {
                            throw IoTError(.storeFailed, "no device")
                        }
                        return FakeCamera(name: camera.name + "=" + camera.url, diary: diary)
                    }, apply: { applied.note("\($0.log.level)") }),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        func write(_ text: String) throws {
            try text.write(toFile: directory + "/c.yaml", atomically: true, encoding: .utf8)
        }

        /// Runs the supervisor while `body` runs, and stops it in order.
        func running(_ body: () async throws -> Void) async throws {
            try await supervisor.prepare()
            let group = ServiceGroup(
                configuration: .init(
                    services: [.init(service: supervisor)], logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
                ))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await body()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }

        func seen(_ lines: [String]) async throws {
            for _ in 0..<100_000 where diary.all.sorted() != lines.sorted() { await Task.yield() }
            #expect(diary.all.sorted() == lines.sorted())
        }
    }

    @Test("A reload starts, stops and changes cameras, and does not affect the others")
    func reload() async throws {
        try await withTemporaryDirectory { directory in
            let box = try Fixture(directory, "cameras: [{name: a, url: /1}, {name: b, url: /2}]")
            try await box.running {
                try await box.seen(["+a=/1", "+b=/2"])
                try box.write(
                    "log: {level: error}\ncameras: [{name: a, url: /1}, {name: b, url: /3}, {name: c, url: /4}]")
                let change = try await box.supervisor.reload()
                #expect(change.added == ["c"] && change.changed == ["b"] && change.removed == [])
                try await box.seen(["+a=/1", "+b=/2", "-b=/2", "+b=/3", "+c=/4"])
                // The old camera ends before the new one starts.
                #expect(box.diary.all.firstIndex(of: "-b=/2")! < box.diary.all.firstIndex(of: "+b=/3")!)
                #expect(box.applied.all == ["error"])
                #expect(try await box.supervisor.reload().isEmpty)
                try box.write("cameras: [{name: a, url: /1}]")
                #expect(try await box.supervisor.reload().removed == ["b", "c"])
                #expect(await box.supervisor.products.map(\.name) == ["a=/1"])
            }
            #expect(box.diary.all.last == "-a=/1")
        }
    }

    @Test("An invalid configuration changes nothing")
    func refused() async throws {
        try await withTemporaryDirectory { directory in
            let box = try Fixture(directory, "cameras: [{name: a, url: /1}]")
            try await box.running {
                try box.write("log: {level: error}\ncameras: [{name: b, url: /1}, {name: a}]")
                await #expect(throws: IoTError.self) { try await box.supervisor.reload() }
                #expect(await box.supervisor.products.map(\.name) == ["a=/1"])
                #expect(box.applied.all.isEmpty)
            }
        }
    }

    @Test("A new password counts as a changed camera, although no key changed")
    func newPassword() async throws {
        try await withTemporaryDirectory { directory in
            try PrivateFile.write("one\n", to: directory + "/p")
            let box = try Fixture(
                directory, "cameras: [{name: a, url: 'rtsp://h/', username: u, passwordFile: p}]")
            try await box.running {
                #expect(try await box.supervisor.reload().isEmpty)
                try PrivateFile.write("two\n", to: directory + "/p")
                #expect(try await box.supervisor.reload().changed == ["a"])
                #expect(await box.supervisor.products.map(\.name) == ["a=rtsp://u:two@h/"])
            }
        }
    }

    @Test("Added cameras are kept in a private file, have unique names, and only they can be removed by the API")
    func addAndRemove() async throws {
        try await withTemporaryDirectory { directory in
            let box = try Fixture(directory, "cameras: [{name: a, url: /1}]")
            let file = directory + "/cameras.json"
            try await box.running {
                try await box.supervisor.add(
                    CameraRequest(
                        CameraSettings(name: "b", url: "rtsp://h/x'y", username: "u", password: "p:'@", viewers: 3)))
                #expect(FileSecrecy.owner.allows(path: file))
                let stored = try AddedCameras(dataDirectory: directory).load()
                #expect(stored.map(\.name) == ["b"] && stored[0].viewers == 3)
                #expect(try stored[0].openable().url == "rtsp://u:p%3A%27%40@h/x'y")
                for name in ["a", "b"] {
                    let error = await #expect(throws: IoTError.self) {
                        try await box.supervisor.add(CameraRequest(CameraSettings(name: name, url: "/9")))
                    }
                    #expect(error?.code == .nameTaken)
                }
                // The device cannot be created, so nothing is stored.
                await #expect(throws: IoTError.self) {
                    try await box.supervisor.add(CameraRequest(CameraSettings(name: "broken", url: "/9")))
                }
                #expect(try AddedCameras(dataDirectory: directory).load().map(\.name) == ["b"])
                // The added cameras stay even if the file names another data directory, which takes effect at the next
                // start.
                let moved = try DaemonOptions.parse(["--data-dir", directory + "/elsewhere"])
                    .configuration(environment: [:], isRoot: true, dataDirectory: directory)
                #expect(moved.cameras.map(\.name) == ["b"])
                // A reload keeps the camera, and a configuration that uses its name is refused.
                #expect(try await box.supervisor.reload().isEmpty)
                try box.write("cameras: [{name: b, url: /1}]")
                await #expect(throws: IoTError.self) { try await box.supervisor.reload() }
                try box.write("cameras: [{name: a, url: /1}]")

                let refusals = [("a", ErrorCode.operationNotAllowed, "iotctl reload"), ("z", .notFound, "camera list")]
                for (name, code, remedy) in refusals {
                    let error = await #expect(throws: IoTError.self) { try await box.supervisor.remove(name) }
                    #expect(error?.code == code && error?.remedy.contains(remedy) == true)
                }
                try await box.supervisor.remove("b")
                #expect(await box.supervisor.products.map(\.name) == ["a=/1"])
                #expect(try AddedCameras(dataDirectory: directory).load().isEmpty)
            }
        }
    }

    @Test("A change keeps the camera's name, is stored, affects no other camera, and is undone if it fails")
    func change() async throws {
        try await withTemporaryDirectory { directory in
            let box = try Fixture(directory, "cameras: [{name: a, url: /1}]")
            try await box.running {
                try await box.supervisor.add(CameraRequest(CameraSettings(name: "b", url: "/2")))
                try await box.supervisor.add(CameraRequest(CameraSettings(name: "c", url: "/3")))
                try await box.seen(["+a=/1", "+b=/2", "+c=/3"])
                try await box.supervisor.change("b", CameraChange(CameraSettings(url: "/4", viewers: 2)))
                try await box.seen(["+a=/1", "+b=/2", "+c=/3", "-b=/2", "+b=/4"])
                let stored = try AddedCameras(dataDirectory: directory).load()
                #expect(stored.map(\.source.url) == ["/4", "/3"] && stored[0].viewers == 2)
                // The same change again opens nothing, and a reload finds no difference.
                try await box.supervisor.change("b", CameraChange(CameraSettings(url: "/4")))
                #expect(try await box.supervisor.reload().isEmpty)

                // The new camera cannot be created, so the old one runs again.
                await #expect(throws: IoTError.self) {
                    try await box.supervisor.change("b", CameraChange(CameraSettings(url: "/unmakeable")))
                }
                #expect(try AddedCameras(dataDirectory: directory).load().map(\.source.url) == ["/4", "/3"])
                try await box.seen(["+a=/1", "+b=/2", "+c=/3", "-b=/2", "+b=/4", "-b=/4", "+b=/4"])
                #expect(await box.supervisor.products.map(\.name) == ["a=/1", "b=/4", "c=/3"])
                await #expect(throws: IoTError.self) {
                    try await box.supervisor.change("b", CameraChange(CameraSettings(url: "exec:x")))
                }
                #expect(
                    try await box.supervisor.source(of: "b", after: CameraChange(CameraSettings(url: "/5"))).url == "/5"
                )
                #expect(await box.supervisor.products.map(\.name) == ["a=/1", "b=/4", "c=/3"])
                for (name, code) in [("a", ErrorCode.operationNotAllowed), ("z", .notFound)] {
                    let error = await #expect(throws: IoTError.self) {
                        try await box.supervisor.change(name, CameraChange(CameraSettings(viewers: 1)))
                    }
                    #expect(error?.code == code)
                }
            }
        }
    }

    @Test("Concurrent changes are made one after the other")
    func together() async throws {
        try await withTemporaryDirectory { directory in
            let box = try Fixture(directory, "")
            try await box.running {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<20 {
                        group.addTask {
                            try await box.supervisor.add(
                                CameraRequest(CameraSettings(name: "c\(index)", url: "/\(index)")))
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(await box.supervisor.products.count == 20)
                #expect(try AddedCameras(dataDirectory: directory).load().count == 20)
            }
        }
    }

    @Test(
        "An invalid camera in the API is refused with the member",
        arguments: [
            (CameraSettings(name: "a b", url: "/x"), "name"), (CameraSettings(name: "a", url: "x.mp4"), "url"),
            (CameraSettings(name: "a", url: "exec:ls"), "url"), (CameraSettings(name: "a", url: "http://h/"), "url"),
            (CameraSettings(name: "a", url: "/x\n"), "url"),
            (CameraSettings(name: "a", url: "rtsp://h/", password: "p"), "password"),
            (CameraSettings(name: "a", url: "/x", username: "u"), "username"),
            (CameraSettings(name: "a", url: "rtsp://v@h/", username: "u"), "username"),
            (CameraSettings(name: "a", url: "/x", rtspTransport: .udp), "transport"),
            (CameraSettings(name: "a", url: "/x", viewers: 0), "viewers"),
        ])
    func wrongRequests(settings: CameraSettings, member: String) {
        let error = #expect(throws: IoTError.self) { try settings.checked() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix(member + ": ") == true, "\(error?.message ?? "")")
    }
}
