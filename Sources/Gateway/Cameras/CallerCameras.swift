import GatewayAPI
import IoTCore
import MediaChannel

struct CallerCameras: GatewayCameras {
    let session: CallerSession

    func list() async throws -> [CameraDescription] {
        var descriptions: [CameraDescription] = []
        for camera in await session.gateway.fleet.cameras() {
            descriptions.append(try await describe(camera))
        }
        return descriptions
    }

    func show(_ name: String) async throws -> CameraDescription {
        try await describe(try await camera(name))
    }

    private func describe(_ camera: Camera) async throws -> CameraDescription {
        var description = CameraDescription(await camera.snapshot())
        if camera.settings.record != .none {
            let isTime = camera.recorder?.isTime(at: WallClock.milliseconds() * 1_000) ?? true
            let isReady = description.state == .ready && isTime
            description.recording =
                try await session.gateway.recordings?.state(
                    of: camera.device, isReady: isReady, onlyEvents: camera.settings.record == .events)
                ?? CameraRecordingState(
                    state: .paused, reason: APIError(RecordingAccess.missing), bytes: 0, droppedFragments: 0)
            description.recording?.followsPlan = camera.recorder?.followsPlan == true ? true : nil
        }
        return description
    }

    func camera(_ name: String) async throws -> Camera {
        guard let camera = await session.gateway.fleet.cameras().first(where: { $0.settings.name == name }) else {
            throw IoTError(
                .notFound, "there is no camera '\(name)'", remedy: "list the cameras with `iotctl camera list`")
        }
        return camera
    }

    func add(_ request: CameraRequest) async throws -> CameraDescription {
        if request.check == true { try await test(try await session.gateway.fleet.source(of: request)) }
        try await session.gateway.fleet.add(request)
        await session.gateway.rights.invalidate()
        guard let camera = try await list().first(where: { $0.name == request.name }) else {
            throw IoTError(.notFound, "camera '\(request.name)' was removed in the meantime")
        }
        return camera
    }

    func change(_ name: String, _ change: CameraChange) async throws -> CameraDescription {
        if change.check == true {
            try await test(try await session.gateway.fleet.source(of: name, after: change))
        }
        try await session.gateway.fleet.change(name, change)
        return try await show(name)
    }

    func remove(_ name: String) async throws {
        try await session.gateway.fleet.remove(name)
    }

    func test(_ request: CameraTestRequest) async throws -> CameraTestReport {
        let source = try await session.gateway.fleet.source(of: request.camera)
        return try await test(source, wantsPicture: request.picture ?? false)
    }

    func answer(_ name: String, _ answer: CallAnswer) async throws -> CameraDescription {
        let camera = try await camera(name)
        switch answer.answer {
        case .accept: try await camera.acceptCall(answer.call)
        case .refuse: try await camera.refuseCall(answer.call)
        }
        return try await show(name)
    }

    func detect(_ name: String, _ request: DetectionRequest) async throws -> DetectionReport {
        guard let type = DetectionType(rawValue: request.type) else {
            let known = DetectionType.allCases.map(\.rawValue).joined(separator: ", ")
            throw IoTError(.valueInvalid, "type must be one of: \(known)")
        }
        let detection = try await camera(name).detected(type, for: .seconds(request.seconds ?? 0))
        return DetectionReport(
            type: type.rawValue, mask: Int64(detection.mask), start: detection.start, end: detection.end,
            recorded: detection.isRecorded)
    }

    func replaceKey(of name: String) async throws -> CameraKeyDescription {
        try await session.gateway.fleet.replaceKey(of: name)
    }

    /// - Throws: why the source does not work.
    @discardableResult
    private func test(_ source: CameraSettings, wantsPicture: Bool = false) async throws -> CameraTestReport {
        try await CameraTrial(source, wantsPicture: wantsPicture).run(holding: try session.take(.cameraTests))
    }
}
