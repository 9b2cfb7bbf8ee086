import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer

extension AccountGateway {
    /// How long the picture of a device elsewhere may take, its connection included.
    private static let pictureTime = Duration.seconds(20)

    func camera(_ name: String) async throws -> CameraDescription {
        guard let camera = await shared.fleet.cameras().first(where: { $0.configuration.name == name }) else {
            throw IoTError(
                .notFound, "there is no camera '\(name)'", remedy: "list what exists with `iotctl camera list`")
        }
        return CameraDescription(await camera.snapshot())
    }

    func changeCamera(_ name: String, _ change: CameraChange) async throws -> CameraDescription {
        if change.check == true {
            let (camera, url) = try await shared.fleet.preview(name, change)
            _ = try await CameraTrial(camera, url: url).run(holding: try take(.cameraTests))
        }
        try await shared.fleet.change(name, change)
        return try await camera(name)
    }

    func testCamera(_ request: CameraTestRequest) async throws -> CameraTestReport {
        try await test(request.camera, wantsPicture: request.picture ?? false)
    }

    /// - Throws: why the camera's source does not work.
    @discardableResult
    func test(_ request: CameraRequest, wantsPicture: Bool = false) async throws -> CameraTestReport {
        let camera = try CameraConfiguration(request)
        let trial = CameraTrial(camera, url: try camera.openableURL(), wantsPicture: wantsPicture)
        return try await trial.run(holding: try take(.cameraTests))
    }

    // MARK: Pictures

    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Snapshot {
        let entry = try await viewable(device)
        lease.needs(device: entry.id)
        let part = try take(.snapshots)
        defer { withExtendedLifetime(part) {} }
        let picture: MediaPlayer.Snapshot
        if let camera = await shared.fleet.cameras().first(where: { $0.device.rawValue == entry.id }) {
            picture = try await camera.picture(bounds)
        } else {
            let late = IoTError(.messageTimeout, "no picture came from the device in time")
            picture = try await within(Self.pictureTime, orThrow: late) { try await fetchPicture(of: entry, bounds) }
        }
        return Snapshot(format: .jpeg, pts: picture.pts, bytes: picture.bytes)
    }

    /// From a camera of another box, over a channel of its own or the one that is open.
    private func fetchPicture(
        of entry: AccountRights.Entry, _ bounds: PictureBounds?
    ) async throws -> MediaPlayer.Snapshot {
        let use = try await open(entry, .monitor, source: 0)
        do {
            try await use.play()
            let picture = try await use.channel.snapshot(.jpeg, bounds)
            await shared.registry.close(use.id)
            return picture
        } catch {
            await shared.registry.close(use.id)
            throw error
        }
    }
}
