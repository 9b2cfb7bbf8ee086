import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

/// Downloads one recording. The bytes go to a file whose name has the recording's entity tag, which is renamed at the
/// end; a later download continues it if the tag is still the same.
struct RecordingDownload {
    struct Outcome: Encodable {
        var file: String
        var bytes: Int64
        /// Whether it was complete before.
        var wasThere = false

        /// For people.
        var line: String { "\(file): \(Format.size(Int(bytes)))\(wasThere ? ", already there" : "")" }
    }

    private let client: GatewayClient
    private let path: APIPath
    private let name: String
    private let note: String

    /// - Parameters:
    ///   - name: of the file, if the target is a directory.
    ///   - note: before the progress.
    init(_ client: GatewayClient, _ path: APIPath, name: String, note: String) {
        self.client = client
        self.path = path
        self.name = name
        self.note = note
    }

    /// - Parameter isOne: whether `target` may be a file, or `-`.
    func run(to target: String, isOne: Bool) async throws -> Outcome {
        if target == "-" {
            let output = try await FileOutput.open("-")
            let body = try await client.part(path, from: 0, tag: nil).body
            do {
                try await client.forEachChunk(body) { try await output.write($0) }
            } catch is ReaderLeft {}
            return Outcome(file: "-", bytes: Int64(output.size))
        }
        let headers = try await client.head(path)
        guard let tag = headers.first(name: "ETag"),
            let size = headers.first(name: "Content-Length").flatMap({ Int64($0) })
        else {
            throw IoTError(.daemonUnreachable, "the daemon does not say which recording it has")
        }
        let file = try Self.file(target, name: name, isOne: isOne)
        if try Self.size(of: file) == size, CompleteFile.isMarked(file, tag: tag) {
            return Outcome(file: file, bytes: size, wasThere: true)
        }
        let part = "\(file).\(tag.filter { $0 != "\"" }).part"
        var done = try Self.size(of: part) ?? 0
        if done < size {
            let (body, isPart) = try await client.part(path, from: done, tag: tag)
            // The recording is another one now: from its beginning.
            if !isPart { done = 0 }
            let output = try await FileOutput.open(part, appends: isPart)
            let start = done
            do {
                try await client.forEachChunk(body) { bytes in
                    try await output.write(bytes)
                    progress(start + Int64(output.size), of: size)
                }
            } catch {
                try? await output.close()
                if Console.isTerminal { Console.redraw("") }
                if start + Int64(output.size) == 0 { unlink(part) }
                throw Self.brokenOff(error, name)
            }
            try await output.close()
            if Console.isTerminal { Console.redraw("") }
        }
        CompleteFile.mark(part, tag: tag)
        guard rename(part, file) == 0 else { throw DescriptorWriting.failure("\(file) cannot be written") }
        return Outcome(file: file, bytes: size)
    }

    /// The daemon answers before it has read the whole recording, so it can only end the connection if it cannot go on.
    private static func brokenOff(_ error: any Error, _ name: String) -> any Error {
        guard let error = error as? IoTError, error.code == .daemonUnreachable else { return error }
        return IoTError(
            .fileFailed, "the download of \(name) broke off",
            remedy: "repeat the command; if it breaks off again, `iotctl recording check --thorough` says whether the "
                + "recording is damaged", underlying: error)
    }

    private func progress(_ done: Int64, of size: Int64) {
        guard Console.isTerminal else { return }
        Console.redraw("\(note)\(name): \(Format.size(Int(done))) of \(Format.size(Int(size)))")
    }

    private static func file(_ target: String, name: String, isOne: Bool) throws -> String {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: target, isDirectory: &isDirectory)
        if !exists, target.hasSuffix("/") || !isOne {
            do {
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            } catch {
                throw IoTError(.fileFailed, "the directory \(target) cannot be created", underlying: error)
            }
            isDirectory = true
        }
        guard isDirectory.boolValue else {
            if isOne { return target }
            throw IoTError(.fileFailed, "\(target) is not a directory", remedy: "several recordings need a directory")
        }
        let directory = target == "." ? "" : target.hasSuffix("/") ? target : target + "/"
        return directory + name.replacing("/", with: "_")
    }

    /// `nil` if the file does not exist.
    private static func size(of path: String) throws -> Int64? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw IoTError(.fileFailed, "\(path) is not a file", remedy: "choose another --output")
        }
        return Int64(facts.st_size)
    }
}
