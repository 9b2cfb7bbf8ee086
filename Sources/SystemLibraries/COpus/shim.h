#pragma once
#include <opus/opus.h>

// Swift cannot call variadic functions: each control that is used gets a function here.

static inline int copus_set_bitrate(OpusEncoder *encoder, opus_int32 bits_per_second) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}
static inline int copus_set_voice(OpusEncoder *encoder) {
    return opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
}
static inline int copus_set_fec(OpusEncoder *encoder, int is_used) {
    return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(is_used));
}
static inline int copus_set_expected_loss(OpusEncoder *encoder, opus_int32 percent) {
    return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}
static inline int copus_set_dtx(OpusEncoder *encoder, int is_used) {
    return opus_encoder_ctl(encoder, OPUS_SET_DTX(is_used));
}
static inline int copus_reset_decoder(OpusDecoder *decoder) { return opus_decoder_ctl(decoder, OPUS_RESET_STATE); }
