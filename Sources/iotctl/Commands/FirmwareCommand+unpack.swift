import ArgumentParser
import Firmware
import Foundation
import IoTCore

extension FirmwareCommand {
    struct Unpack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unpack", abstract: "Verify a release that a box has downloaded. Needs no daemon.",
            discussion: """
                For the program that installs releases. BUNDLE is the file 'release' of
                firmware.directory. Its signature is checked first, and then whether it is for
                this model and version; the file in it is written to --output only if it is the
                manifest's.

                EXAMPLES
                  iotctl firmware unpack release --key release.key.pub \\
                    --model iotvideod-amd64 --installed 0.1.0 --output new.deb
                """)

        @Argument(help: ArgumentHelp("The bundle.", valueName: "bundle"), completion: .file())
        var bundle: String

        @OptionGroup var trusted: TrustedKeyOptions

        @Option(help: ArgumentHelp("The device's model.", valueName: "name"))
        var model: String

        @Option(
            help: ArgumentHelp("The version on the device.", valueName: "version"), transform: VersionArgument.version)
        var installed: FirmwareVersion

        @Option(
            name: [.short, .long], help: ArgumentHelp("Where to write the release's file.", valueName: "file"),
            completion: .file())
        var output: String

        func run() async throws {
            let input = try BundleInput(bundle)
            let signed = try BundleHeader(beginning: try input.read(BundleHeader.maximumCount, at: 0)).signed
            let manifest = try signed.verify(try trusted.publicKeys)
            try manifest.check(for: FirmwareTarget(model: model, version: installed))
            let part = output + ".part"
            unlink(part)
            do {
                // What is compared is what was written, whatever happens to the bundle meanwhile.
                let file = try await FileOutput.open(part, mode: 0o600)
                var check = ReleaseFileCheck(manifest)
                var place = Int64(BundleHeader(signed).bytes.count)
                while true {
                    let bytes = try input.read(1 << 20, at: place)
                    guard !bytes.isEmpty else { break }
                    try check.update(bytes)
                    try await file.write(bytes)
                    place += Int64(bytes.count)
                }
                try check.finish()
                try await file.close()
            } catch {
                unlink(part)
                throw error
            }
            guard rename(part, output) == 0 else { throw DescriptorWriting.failure("\(output) cannot be written") }
            try Console.print("\(output): \(manifest.version) for \(manifest.model), \(manifest.size) bytes")
        }
    }
}

/// A bundle in a directory that another user can write.
private struct BundleInput: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// - Throws: `.fileFailed` for anything but a regular file.
    init(_ path: String) throws {
        self.path = path
        // A named pipe would wait for its writer.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be read") }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw IoTError(.fileFailed, "\(path) is not a regular file")
        }
    }

    deinit { close(descriptor) }

    /// At most `count` bytes; none at the end.
    func read(_ count: Int, at place: Int64) throws -> [UInt8] {
        guard let bytes = OpenFile.read(descriptor, at: place, count: count) else {
            throw DescriptorWriting.failure("\(path) cannot be read")
        }
        return bytes
    }
}
