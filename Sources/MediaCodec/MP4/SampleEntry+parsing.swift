import IoTCore
import NIOCore

extension SampleEntry {
    private static let videoFields = 78
    private static let audioFields = 28

    /// `nil` for an entry that `write` does not make.
    static func parse(_ type: BoxType, _ body: ByteBuffer) -> TrackParameters? {
        switch type {
        case "avc1": video(.h264, "avcC", body)
        case "hvc1": video(.h265, "hvcC", body)
        case "mp4a": aac(body)
        case "Opus": opus(body)
        default: nil
        }
    }

    private static func video(_ codec: VideoCodec, _ configuration: BoxType, _ body: ByteBuffer) -> TrackParameters? {
        guard let boxes = body.getSlice(at: body.readerIndex + videoFields, length: body.readableBytes - videoFields),
            let record = boxes.box(configuration)
        else { return nil }
        let sets = DecoderConfiguration(codec: codec, extradata: Array(record.readableBytesView)).parameterSets
        return VideoParameters(codec: codec, parameterSets: sets).map { .video($0) }
    }

    private static func sound(_ body: ByteBuffer) -> (channels: Int, rate: Int, boxes: ByteBuffer)? {
        guard let channels = body.getInteger(at: body.readerIndex + 16, as: UInt16.self),
            let rate = body.getInteger(at: body.readerIndex + 24, as: UInt32.self),
            let boxes = body.getSlice(at: body.readerIndex + audioFields, length: body.readableBytes - audioFields),
            (1...8).contains(channels)
        else { return nil }
        return (Int(channels), Int(rate >> 16), boxes)
    }

    private static func aac(_ body: ByteBuffer) -> TrackParameters? {
        guard let (channels, rate, boxes) = sound(body), var descriptors = boxes.box("esds"),
            descriptors.readVersion() != nil, var stream = readDescriptor(3, &descriptors)
        else { return nil }
        stream.moveReaderIndex(forwardBy: min(3, stream.readableBytes))
        guard var decoder = readDescriptor(4, &stream) else { return nil }
        decoder.moveReaderIndex(forwardBy: min(13, decoder.readableBytes))
        guard let configuration = readDescriptor(5, &decoder) else { return nil }
        let bytes = Array(configuration.readableBytesView)
        guard let parsed = AudioSpecificConfig(bytes) else { return nil }
        return .audio(
            AudioParameters(
                codec: .aac, sampleRate: rate > 0 ? rate : parsed.sampleRate, channels: channels,
                audioSpecificConfig: bytes))
    }

    private static func opus(_ body: ByteBuffer) -> TrackParameters? {
        guard let (channels, _, boxes) = sound(body), let specific = boxes.box("dOps"),
            let rate = specific.getInteger(at: specific.readerIndex + 4, as: UInt32.self), rate > 0
        else { return nil }
        return .audio(AudioParameters(codec: .opus, sampleRate: Int(rate), channels: channels))
    }

    private static func readDescriptor(_ tag: UInt8, _ buffer: inout ByteBuffer) -> ByteBuffer? {
        guard buffer.readInteger(as: UInt8.self) == tag else { return nil }
        var count = 0
        for _ in 0..<4 {
            guard let byte = buffer.readInteger(as: UInt8.self) else { return nil }
            count = count << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { return buffer.readSlice(length: count) }
        }
        return nil
    }
}

extension SegmentTracks {
    /// The box of the rotation, which a file has in its track header: a number of degrees, 16 bits.
    private static let rotation: BoxType = "rota"

    /// The tracks as their sample entries, one after the other, and how far the pictures are turned: an index stores them
    /// once for many segments.
    package var sampleEntries: [UInt8] {
        var bytes = ByteBuffer()
        if let video { SampleEntry.write(video, to: &bytes) }
        if let audio { SampleEntry.write(audio, to: &bytes) }
        if let video, video.rotation != .none {
            bytes.writeBox(Self.rotation) { $0.writeInteger(UInt16(video.rotation.rawValue)) }
        }
        return Array(bytes.readableBytesView)
    }

    /// `nil` for entries that are damaged or of other codecs.
    package init?(sampleEntries: [UInt8]) {
        self.init()
        for (type, body) in ByteBuffer(bytes: sampleEntries).boxes {
            if type == Self.rotation {
                let degrees = body.getInteger(at: body.readerIndex, as: UInt16.self).map(Int.init)
                guard video != nil, let rotation = degrees.flatMap(PictureRotation.init) else { return nil }
                video?.rotation = rotation
                continue
            }
            switch SampleEntry.parse(type, body) {
            case .video(let parameters): video = parameters
            case .audio(let parameters): audio = parameters
            case nil: return nil
            }
        }
        guard video != nil || audio != nil else { return nil }
    }
}
