import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Test, add, show, change and remove the cameras of this daemon.",
        subcommands: [
            List.self, Show.self, Test.self, Add.self, Set.self, Remove.self, Accept.self, Refuse.self, Event.self,
            DataEvents.self, Answer.self, ReplaceKey.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the cameras with the state and the measured tracks of their sources.",
            discussion: """
                EXAMPLES
                  iotctl camera list
                  iotctl camera list --json | jq '.cameras[].tracks'
                """, aliases: ["ls"])

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(CameraList.self, APIPath("v1", "cameras")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("NAME", "STATE", "TRACKS", "BITRATE", "VIEWERS", "SOURCE")
            for camera in list.cameras {
                table.append(
                    camera.name, camera.state.rawValue, Format.tracks(camera.tracks), Format.bitrate(camera.bitrate),
                    "\(camera.viewers)/\(camera.viewerLimit)", camera.url)
            }
            try Console.print(table)
            for camera in list.cameras {
                guard let reason = camera.reason else { continue }
                try Console.print("\(camera.name): \(reason.error)\n  \(reason.remedy)")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a camera: its state and since when, why it failed, its tracks.",
            discussion: """
                EXAMPLES
                  iotctl camera show door
                  iotctl camera show door --json | jq -r .state
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let camera = try await options.withClient {
                try await $0.get(CameraDescription.self, APIPath("v1", "cameras", name))
            }
            if options.json { return try Console.printJSON(camera) }
            let isEncrypted = CameraRequest.scheme(of: camera.url) == "rtsps"
            let transport = isEncrypted ? "TLS" : camera.settings.$rtspTransport.given?.rawValue.uppercased()
            try Console.print(
                Table.pairs([
                    ("name", camera.name),
                    ("device", camera.device ?? "-"),
                    ("source", camera.url + (transport.map { " over \($0)" } ?? "")),
                    ("certificate", camera.settings.certificate ?? "-"),
                    ("state", "\(camera.state.rawValue) since \(Format.time(camera.since))"),
                    ("reason", camera.reason.map { "\($0.error)" } ?? "-"),
                    ("tracks", Format.tracks(camera.tracks)),
                    ("bitrate", Format.bitrate(camera.bitrate)),
                    ("viewers", "\(camera.viewers)/\(camera.viewerLimit)"),
                    ("caller", camera.caller.map { camera.ringing == true ? "\($0), rings" : $0 } ?? "-"),
                    ("recording", Format.recording(camera.recording, camera.settings)),
                    ("motion", Format.motion(camera.settings)),
                ]))
            if let reason = camera.reason { try Console.print("  \(reason.remedy)") }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a camera to the running daemon; it stays after a restart.",
            discussion: """
                Waits up to 12 seconds for the camera's first state and prints it. A camera that
                does not work is still added, with a warning and exit status 0, because it may
                only be off; the daemon keeps trying it. With --check it is not added.

                --onvif asks the camera for the streams of its first lens and adds the largest;
                with --stream sub, the smallest.

                EXAMPLES
                  iotctl camera add yard rtsp://192.0.2.8/stream1
                  iotctl camera add gate --onvif http://192.0.2.9/onvif/device_service \\
                    --username admin --password-file -
                  iotctl camera add door rtsp://192.0.2.7/ --username admin --password-file -
                  iotctl camera add lobby rtsps://192.0.2.6/live --certificate 2F:A1:…:9C
                  iotctl camera add clip /srv/clips/front.mp4 --check
                """)

        @Argument(help: "The camera's name: 1 to 64 letters, digits, _, - and .")
        var name: String

        @OptionGroup var source: AddedSourceOptions

        @OptionGroup var camera: CameraOptions

        @OptionGroup var outcome: CameraOutcome

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let password = try source.login.password()
            try await options.withClient { client in
                var settings = CameraSettings(name: name)
                settings.url = try await source.address(client, password: password, isQuiet: options.json)
                source.login.give(to: &settings)
                settings.password = password
                camera.give(to: &settings)
                // It was for ONVIF's service only.
                if source.onvifIsEncrypted, !settings.hasEncryptedSource { settings.certificate = nil }
                let request = CameraRequest(settings, check: outcome.requested)
                let answer: CameraDescription = try await client.call(
                    .POST, APIPath("v1", "cameras"), request, timeout: CameraOutcome.requestTime)
                if !options.json {
                    try Console.print(answer.device.map { "\(answer.name) is device \($0)" } ?? answer.name)
                }
                try await outcome.report(answer, "added", client, asJSON: options.json)
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a camera that was added with `camera add`; other settings stay.",
            discussion: """
                The camera stays the same device and keeps its bindings, settings and events. It
                is reopened at once, which interrupts viewers briefly. Its name identifies the
                device and cannot change; `device rename` gives the device another name. A URL
                with another host or port, or rtsp:// after rtsps://, needs the user name and
                the password again.

                EXAMPLES
                  iotctl camera set yard rtsp://192.0.2.8/stream2
                  iotctl camera set door --password-file door.password
                  iotctl camera set door --anonymous --transport udp --check
                  iotctl camera set door --low-url rtsp://192.0.2.8/stream2
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @Argument(help: "A new source: rtsp[s]://…, v4l2:/dev/… or a file.", completion: .file())
        var source: String?

        @OptionGroup var login: CameraLogin

        @Flag(help: "Remove the user name and the password.")
        var anonymous = false

        @Flag(help: "Remove the fingerprint of the camera's certificate.")
        var noCertificate = false

        @Flag(help: "Let every gateway call the camera.")
        var allCallers = false

        @Flag(help: "Record the camera at any time.")
        var allTimes = false

        @Flag(help: "Let motion count in the whole picture.")
        var wholePicture = false

        @Flag(help: "Do not get what the camera's own detectors notice.")
        var noOnvif = false

        @Flag(help: "Remove the limit of bytes of the camera's recordings.")
        var noRecordBytes = false

        @Flag(help: "Remove the limit of days of the camera's recordings.")
        var noRecordDays = false

        @Flag(help: "Remove the definition mid.")
        var noMid = false

        @Flag(help: "Remove the definition low.")
        var noLow = false

        @Flag(help: "Remove the further cameras behind the device.")
        var noSources = false

        @OptionGroup var camera: CameraOptions

        @OptionGroup var outcome: CameraOutcome

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if let source { try CameraSourceOptions.check(source) }
            guard !anonymous || login.username == nil && login.passwordFile == nil else {
                throw ValidationError("--anonymous excludes --username and --password-file")
            }
            guard !(noMid && camera.midUrl != nil), !(noLow && camera.lowUrl != nil) else {
                throw ValidationError("--no-mid excludes --mid-url, and --no-low excludes --low-url")
            }
            guard !(noSources && camera.sources != nil) else {
                throw ValidationError("--no-sources excludes --sources")
            }
            guard !(noRecordBytes && camera.recordBytes != nil), !(noRecordDays && camera.recordDays != nil) else {
                throw ValidationError(
                    "--no-record-bytes excludes --record-bytes, and --no-record-days excludes --record-days")
            }
            guard !(allTimes && camera.recordTimes != nil) else {
                throw ValidationError("--all-times excludes --record-times")
            }
            guard !(wholePicture && camera.motionIgnore != nil) else {
                throw ValidationError("--whole-picture excludes --motion-ignore")
            }
            guard !(noOnvif && camera.onvifPort != nil) else {
                throw ValidationError("--no-onvif excludes --onvif-port")
            }
            guard !(noCertificate && login.certificate != nil) else {
                throw ValidationError("--no-certificate excludes --certificate")
            }
            guard !(allCallers && camera.callers != nil) else {
                throw ValidationError("--all-callers excludes --callers")
            }
            let change = change(password: nil)
            let isEmpty = change.settings.isEmpty && change.removed.isEmpty && login.passwordFile == nil
            guard !isEmpty else { throw ValidationError("nothing to change: give a source or an option") }
        }

        func change(password: String?) -> CameraChange {
            var settings = CameraSettings(url: source.map(CameraSourceOptions.absolute), password: password)
            login.give(to: &settings)
            camera.give(to: &settings)
            let removed = [
                ("username", anonymous), ("certificate", noCertificate), ("callers", allCallers), ("midUrl", noMid),
                ("lowUrl", noLow), ("sources", noSources), ("recordTimes", allTimes), ("motionIgnore", wholePicture),
                ("onvifPort", noOnvif),
                ("recordBytes", noRecordBytes),
                ("recordDays", noRecordDays),
            ].filter(\.1).map(\.0)
            return CameraChange(settings, removed: Swift.Set(removed), check: outcome.requested)
        }

        func run() async throws {
            let change = change(password: try login.password())
            try await options.withClient { client in
                let answer: CameraDescription = try await client.call(
                    .PATCH, APIPath("v1", "cameras", name), change, timeout: CameraOutcome.requestTime)
                try await outcome.report(answer, "changed", client, asJSON: options.json)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a camera that was added with `camera add`; its device stays until `device remove`.",
            discussion: """
                EXAMPLES
                  iotctl camera remove yard
                  iotctl camera remove yard --yes
                """, aliases: ["rm"])

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @OptionGroup var confirmation: Confirmation

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm("remove the camera '\(name)'")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "cameras", name), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("removed \(name)")
        }
    }
}
