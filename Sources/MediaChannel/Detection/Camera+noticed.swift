import IoTCore
import NIOCore
import Synchronization

extension Camera {
    /// Makes detections of what is noticed, until the stream ends.
    func reportDetections(_ noticed: AsyncStream<NoticedDetection>) async {
        struct Key: Hashable {
            var source: NoticedDetection.Source
            var type: DetectionType
        }
        var detections: [Key: Detection] = [:]
        for await next in noticed {
            let key = Key(source: next.source, type: next.type)
            switch next.phase {
            case .begins:
                guard (try? await stream.eventLoop.submit { [stream] in stream.value.isOn }.get()) == true else {
                    continue
                }
                detections[key] = try? await detected(next.type, for: next.expected)
            case .goesOn:
                guard detections[key] != nil else { continue }
                if await record(next.type, for: next.expected) { detections[key]?.isRecorded = true }
            case .ends(let lasted):
                guard var over = detections.removeValue(forKey: key) else { continue }
                over.end = over.start + lasted / 1_000
                over.isOver = true
                try? post(Detection.topic, over.body)
            }
        }
    }

    /// Passes on what the camera's own detectors notice, until the task is cancelled.
    func watchDetectors(_ source: any CameraEventSource, _ noticed: AsyncStream<NoticedDetection>.Continuation) async {
        let events = Mutex(NoticedEvents())
        await source.run { notice in
            let now = Int64(NIODeadline.now().uptimeNanoseconds / 1_000)
            for (type, phase) in events.withLock({ $0.take(notice, at: now) }) {
                noticed.yield(NoticedDetection(source: .camera, type: type, phase: phase))
            }
        }
    }
}
