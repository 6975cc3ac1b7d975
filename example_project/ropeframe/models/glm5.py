"""GLM-5's attention, named by its definitions as ``--spec ropeframe.models.glm5 get_glm5_spec``.

The attention always takes two results from its rotary embedding, as ``YarnRotaryEmbedding`` gives
them. GLM-5's checkpoints use plain RoPE, which YaRN with factor 1 equals number for number, so the
family trains correctly with the YaRN class. ``RotaryEmbedding`` returns one tensor, and unpacking
that fails in the first forward pass: ``--rope-type rope`` can be said only once the call below
depends on the rope type too.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from megatron.core.transformer.transformer_block import TransformerBlockSubmodules
    from megatron.core.transformer.transformer_config import MLATransformerConfig


def get_glm5_spec(
    args: argparse.Namespace, config: MLATransformerConfig, vp_stage: int | None = None
) -> TransformerBlockSubmodules:
    """Return Megatron's block of decoder layers with GLM-5's attention in each."""
    from megatron.core.models.gpt.gpt_layer_specs import (  # noqa: PLC0415
        get_gpt_decoder_block_spec,
    )

    block = get_gpt_decoder_block_spec(
        config,
        use_transformer_engine=args.transformer_impl == "transformer_engine",
        normalization=args.normalization,
        vp_stage=vp_stage,
    )
    for layer in block.layer_specs:
        layer.submodules.self_attention.module = attention_class()
    return block


def build_rotary_embedding(config: MLATransformerConfig, cp_group: Any) -> Any:
    """Build the rotary embedding that the rope type names."""
    from megatron.core.models.common.embeddings import (  # noqa: PLC0415
        RotaryEmbedding,
        YarnRotaryEmbedding,
    )

    if config.rope_type == "rope":
        return RotaryEmbedding(
            config.qk_pos_emb_head_dim,
            rotary_percent=config.rotary_percent,
            rotary_base=config.rotary_base,
            cp_group=cp_group,
        )
    return YarnRotaryEmbedding(
        config.qk_pos_emb_head_dim,
        rotary_base=config.rotary_base,
        scaling_factor=config.rotary_scaling_factor,
        original_max_position_embeddings=config.original_max_position_embeddings,
        beta_fast=config.beta_fast,
        beta_slow=config.beta_slow,
        mscale=config.mscale,
        mscale_all_dim=config.mscale_all_dim,
        cp_group=cp_group,
    )


@cache
def attention_class() -> type:
    """Create the attention class; its base is Megatron's, so that needs Megatron."""
    import torch  # noqa: PLC0415
    from megatron.core.models.common.embeddings import apply_rotary_pos_emb  # noqa: PLC0415
    from megatron.core.transformer.multi_latent_attention import (  # noqa: PLC0415
        MLASelfAttention,
    )

    class Glm5SelfAttention(MLASelfAttention):
        """Multi-latent attention of GLM-5, without packed sequences and without inference."""

        def __init__(self, config: MLATransformerConfig, *args: Any, **kwargs: Any) -> None:
            super().__init__(config, *args, **kwargs)
            self.rotary_pos_emb = build_rotary_embedding(config, self.pg_collection.cp)

        def get_query_key_value_tensors(
            self,
            hidden_states: torch.Tensor,
            key_value_states: torch.Tensor | None = None,
            position_ids: torch.Tensor | None = None,
            packed_seq_params: Any = None,
            inference_context: Any = None,
            **_: Any,
        ) -> tuple[torch.Tensor, ...]:
            """Project, rotate and join; shapes are [sequence, batch, heads, head width]."""
            for name, value in (
                ("key_value_states", key_value_states),
                ("position_ids", position_ids),
                ("packed_seq_params", packed_seq_params),
                ("inference_context", inference_context),
            ):
                if value is not None:
                    raise NotImplementedError(f"GLM-5's attention does not take {name}")
            config = self.config
            length = self.rotary_pos_emb.get_rotary_seq_len(None, None, hidden_states, config, None)
            rotary_pos_emb, mscale = self.rotary_pos_emb(length)

            latent_query, latent_pair = self._qkv_down_projection(hidden_states)
            latent_kv, key_rope = latent_pair.split(
                [config.kv_lora_rank, config.qk_pos_emb_head_dim], dim=-1
            )
            latent_query = self.q_layernorm(latent_query)
            latent_kv = self.kv_layernorm(latent_kv)

            query, _bias = self.linear_q_up_proj(latent_query)
            query_plain, query_rope = self._per_head(query).split(
                [config.qk_head_dim, config.qk_pos_emb_head_dim], dim=-1
            )
            key_value, _bias = self.linear_kv_up_proj(latent_kv)
            key_plain, value = self._per_head(key_value).split(
                [config.qk_head_dim, config.v_head_dim], dim=-1
            )

            query_rope, key_rope = (
                apply_rotary_pos_emb(
                    part,
                    rotary_pos_emb,
                    config=config,
                    mscale=mscale,
                    cp_group=self.pg_collection.cp,
                    mla_rotary_interleaved=True,
                )
                for part in (query_rope, key_rope.unsqueeze(-2))
            )
            heads = self.num_attention_heads_per_partition
            query = torch.cat([query_plain, query_rope], dim=-1)
            key = torch.cat([key_plain, key_rope.expand(-1, -1, heads, -1)], dim=-1)
            return query, key, value.contiguous(), latent_query, latent_kv

        def _per_head(self, projected: torch.Tensor) -> torch.Tensor:
            return projected.unflatten(-1, (self.num_attention_heads_per_partition, -1))

    return Glm5SelfAttention
