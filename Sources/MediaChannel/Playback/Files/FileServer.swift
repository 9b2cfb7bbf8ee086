import IoTCore
import NIOCore
import PeerTransport
import RecordingStore

/// The device's side of a playback call's files: sends bytes and pictures of recordings that the caller asks for
/// (docs/playback.md, "Files"). One request at a time. Confined to the camera's event loop.
final class FileServer {
    /// The label of the data channel, which the caller opens when it first needs it. Its messages are `DataFrame`s.
    static let label = "iotlink.file"
    /// The most bytes of one request, which wait here until the caller has room for them.
    static let mostBytes = 1 << 20
    /// How long the caller may take to make room, and how long its files stay open without a request.
    private static let patience = TimeAmount.seconds(10)
    private static let longestRequest = 1_024
    /// A player's parts, and downloads beside them, do not close each other's files.
    private static let mostFiles = 4

    private let recordings: CallRecordings
    private let eventLoop: any EventLoop
    private weak var transport: (any ControlTransport)?
    private var line: DataLine?
    /// The request that is being answered.
    private var busy: UInt32?
    /// The files of the newest requests, the newest one last. While they are open, their bytes do not change.
    private var files: [(want: RecordedFileWant, file: any RecordedFile)] = []
    private var idle: Scheduled<Void>?

    init(_ recordings: CallRecordings, _ transport: any ControlTransport, on eventLoop: any EventLoop) {
        self.recordings = recordings
        self.transport = transport
        self.eventLoop = eventLoop
    }

    /// Whether an event of the connection is of this channel; others have no effect.
    func receive(_ event: PeerEvent) -> Bool {
        switch event {
        case .dataChannelOpened(let opened) where opened.isRemote && opened.label == Self.label: open(opened.id)
        case .dataChannelMessage(let id, let message) where id == line?.id: line?.receive(message)
        case .dataChannelClosed(let id, _) where id == line?.id: close(isLeaving: false)
        default: return false
        }
        return true
    }

    private func open(_ id: DataChannelID) {
        guard let transport, line == nil else {
            transport?.closeDataChannel(id)
            return
        }
        let line = DataLine(
            id, of: transport, on: eventLoop, onFrame: { [weak self] in self?.take($0) },
            onEnd: { [weak self] _ in self?.close() })
        self.line = line
        line.tell(isListening: true)
    }

    private func take(_ frame: DataFrame) {
        line?.processed(frame.cost)
        switch frame {
        case .request(let number, _, let bytes):
            guard busy == nil else {
                return fail(number, IoTError(.downloadBusy, "a file is sent over this channel already"))
            }
            do throws(IoTError) {
                guard bytes.readableBytes <= Self.longestRequest,
                    let json = try? JSONValue(parsing: Array(bytes.readableBytesView))
                else {
                    throw IoTError(.invalidRequest, "a request is JSON of at most \(Self.longestRequest) bytes")
                }
                if let picture = try PictureRequest(json) {
                    answer(number, picture)
                } else {
                    answer(number, try FileRequest(json))
                }
            } catch {
                fail(number, error)
            }
        // The caller wants no more.
        case .finish(let number): if number == busy { busy = nil }
        case .message, .response, .end, .failure, .credit, .listening: break
        }
    }

    private func answer(_ number: UInt32, _ request: FileRequest) {
        busy = number
        idle?.cancel()
        // Without a tag, the newest state is wanted.
        let known = files.first { $0.want == request.want && $0.file.tag == request.tag }?.file
        recordings.perform(on: eventLoop) { source throws(IoTError) in
            let file: any RecordedFile
            if let known { file = known } else { file = try source.open(request.want) }
            return (file, try request.read(file))
        }.assumeIsolated().whenComplete { [weak self] result in
            guard let self, busy == number else { return }
            do {
                let (file, bytes) = try result.get()
                keep(file, request.want)
                send(number, FileHead(file).bytes, rest: bytes)
            } catch {
                // The disk may have been lost: the next request opens the file again.
                if let known { forget(known) }
                fail(number, error as? IoTError ?? IoTError(.internalFailure, underlying: error))
            }
        }
    }

    private func keep(_ file: any RecordedFile, _ want: RecordedFileWant) {
        if let place = files.firstIndex(where: { $0.want == want && $0.file.tag == file.tag }) {
            let earlier = files.remove(at: place).file
            if earlier !== file { recordings.release(earlier) }
        }
        files.append((want, file))
        if files.count > Self.mostFiles { forget(files[0].file) }
    }

    private func forget(_ file: any RecordedFile) {
        files.removeAll { $0.file === file }
        recordings.release(file)
    }

    private func answer(_ number: UInt32, _ request: PictureRequest) {
        busy = number
        idle?.cancel()
        recordings.perform(on: eventLoop) { source throws(IoTError) in
            try source.picture(request.want, request.bounds)
        }.assumeIsolated().whenComplete { [weak self] result in
            guard let self, busy == number else { return }
            switch result {
            case .success(let found):
                send(number, PictureHead(found).bytes, rest: found?.picture?.bytes ?? ByteBuffer())
            case .failure(let error):
                fail(number, error as? IoTError ?? IoTError(.internalFailure, underlying: error))
            }
        }
    }

    private func send(_ number: UInt32, _ part: ByteBuffer, rest: ByteBuffer) {
        guard let line, busy == number else { return }
        let isLast = rest.readableBytes == 0
        line.send(.response(number: number, isLast: isLast, part), patience: Self.patience).assumeIsolated()
            .whenComplete { [weak self] result in
                guard let self, busy == number else { return }
                switch result {
                case .success where isLast:
                    busy = nil
                    wait()
                case .success:
                    var rest = rest
                    let next = rest.readSlice(length: min(rest.readableBytes, DataFrame.maximumData)) ?? ByteBuffer()
                    send(number, next, rest: rest)
                case .failure:
                    // The caller takes nothing more.
                    fail(number, IoTError(.operationTimeout))
                    close()
                }
            }
    }

    private func fail(_ number: UInt32, _ error: IoTError) {
        line?.post(.failure(number: number, code: error.code, error.message))
        guard busy == number else { return }
        busy = nil
        wait()
    }

    /// Closes the files of a caller that asks for nothing more.
    private func wait() {
        idle = eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in self?.release() }
    }

    private func release() {
        for file in files { recordings.release(file.file) }
        files = []
    }

    func close(isLeaving: Bool = true) {
        idle?.cancel()
        idle = nil
        busy = nil
        release()
        line?.end(IoTError(.channelDisconnected, "the call has ended"), isLeaving: isLeaving)
        line = nil
    }
}
